"""Two towers that map a text and its partner to neighbouring vectors, for retrieval."""
