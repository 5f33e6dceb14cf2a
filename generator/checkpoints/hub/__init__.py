"""The Hub: requests, responses, retries, revisions, and repositories as storage."""
