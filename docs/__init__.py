"""The documentation site: its pages, and `docs.build`, which makes it."""
