"""The Hub: its client, revisions, and repositories as storage."""
