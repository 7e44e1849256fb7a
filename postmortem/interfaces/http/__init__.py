"""The HTTP service: logs in, reports out, and the pages of the triages in a store."""
