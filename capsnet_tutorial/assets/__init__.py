"""Files that come with the package: trained weights and the sample of MNIST's digits."""
