"""Floor plans from noise: corners by diffusion, then the walls between them."""
