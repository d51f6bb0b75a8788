"""The laboratory: tasks, variants of the network, records of runs, tables."""
