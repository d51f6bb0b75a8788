"""The book's own: figures, widgets, experiments, other routings, planted bugs."""
