"""What lies beside a list, for commands, of which help loads nothing."""

from generator.contracts import own

__all__ = ["own"]
