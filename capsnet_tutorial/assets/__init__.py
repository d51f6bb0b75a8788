"""Files that come with the package: trained weights, recorded trainings, the sample of MNIST's digits."""
