"""From pairs to arrays: encoded rankings, and products with them."""
