"""The Hub: requests and responses, retries, revisions, and a repository as files."""
