"""Training systems and tools that the handbook documents."""
