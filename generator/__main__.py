"""``python -m generator``."""

from generator.cli import app

if __name__ == "__main__":
    app(prog_name="python -m generator")
