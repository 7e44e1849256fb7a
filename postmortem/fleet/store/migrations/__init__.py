"""The steps from one revision of the tables to the next, run by Alembic (`store.migrating`)."""
