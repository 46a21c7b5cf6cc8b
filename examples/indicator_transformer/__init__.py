"""Select technical indicators with a transformer over a set, which predicts their usefulness."""
