"""Programs that read config.json, one module each."""
