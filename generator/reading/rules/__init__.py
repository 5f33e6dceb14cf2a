"""Rules of ``lint``, one module each."""
