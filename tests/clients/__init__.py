"""What readers open the book with: `make nightly`."""
