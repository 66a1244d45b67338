"""A schema for an application that runs on Catchment: installed, upgraded and checked as the engine's own is.

The package that a ``Schema`` names has the SQL. All parts but the migrations are optional::

    migrations/0001_name.sql   tables: each is applied once, in the order of the numbers
    functions/ profiles.sql views/ triggers/
                               run again by each upgrade that changes one of them or applies a
                               migration, as the owner of the schema
    grants.sql grants/         likewise, in a database with roles; without, nobody but the owner has rights
    commands/                  run after them as the owner of the engine: queues, commands and schedules of the
                               application; commands/grants.sql in a database with roles
    queries/name.sql           statements of the application's Python, which schema.query(name) reads
"""

from catchment.schema.install import Schema, Upgrade

__all__ = ["Schema", "Upgrade"]
