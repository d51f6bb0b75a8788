"""Every reader's client: `make clients`."""
