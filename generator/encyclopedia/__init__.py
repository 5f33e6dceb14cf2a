"""Published models: their configs, their settings by the code of their families, their pages."""
