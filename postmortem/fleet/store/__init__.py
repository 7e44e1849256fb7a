"""The store: jobs and analyses as two tables, in SQLite or PostgreSQL.

In: rows. Out: rows. Not here: what an analysis says, which jobs there are, which belong together.
"""
