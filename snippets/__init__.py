"""The code that pages show and examples import: one topic per module."""
