"""A bidirectional Mamba that reads both strands of DNA, trained with Lightning and configured with Hydra."""
