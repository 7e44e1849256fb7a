"""A PostgreSQL server for tests: made in a temporary folder, reached by a socket there, thrown away."""

import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

import psycopg

QUICK = "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=60"


class PostgresqlServer:
    """One server with a cluster of its own; it listens on no port."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._numbers = itertools.count(1)

    def __enter__(self) -> "PostgresqlServer":  # noqa: PYI034 -- Self is not in Python 3.10
        """Make the cluster and start the server."""
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        data = str(self._folder / "data")
        self._run(
            "initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", data
        )
        log, options = str(self._folder / "log"), f"{QUICK} -k {self._folder}"
        self._run("pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", options)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it, whoever is still connected, and remove the cluster."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self._folder / "data"))
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_database(self, options: str = "") -> str:
        """The URL of a database that is empty and nobody else's."""
        name = f"store_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} {options}")
        return self.url(name)

    def new_schema(self) -> str:
        """The URL of an empty place in a database; it is made much faster than one of its own."""
        name = f"place_{next(self._numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.url('postgres')}&options=-csearch_path%3D{name}"

    def url(self, database: str) -> str:
        """The URL of one of its databases."""
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run a statement as the server's owner."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _run(self, program: str, *arguments: str) -> None:
        as_owner = ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()
        environment = {name: value for name, value in os.environ.items() if name[:2] != "PG"}
        subprocess.run(
            [*as_owner, str(self._programs / program), *arguments],
            check=True,
            cwd="/",
            env={**environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would never end
            stderr=subprocess.DEVNULL,
        )
