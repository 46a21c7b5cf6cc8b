"""Select technical indicators with a transformer over a set: it says which of them to listen to."""
