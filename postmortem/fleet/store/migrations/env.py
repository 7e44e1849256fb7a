"""What Alembic runs around the steps; it is never imported otherwise.

In: the connection that `store.opened_store` has opened, its transaction with it. Out: the tables.
Not here: the steps.
"""

from alembic import context

from postmortem.fleet.store.opened_store import get_alembic_settings

context.configure(connection=context.config.attributes["connection"], **get_alembic_settings())
with context.begin_transaction():
    context.run_migrations()
