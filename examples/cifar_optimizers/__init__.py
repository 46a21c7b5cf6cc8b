"""Compare optimizers on CIFAR images: ResNet-18 with the CIFAR stem."""
