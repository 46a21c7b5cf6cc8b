"""Short cures for error messages; the page of error messages shows them."""
