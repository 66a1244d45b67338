"""The connections of callers: psycopg, psycopg2, asyncpg, SQLAlchemy, Django.

Each library has a module that is imported when an object of it is met, so none has to be installed. It turns the object
into a ``Sender`` or an ``AsyncSender``: something that executes a statement and returns rows, in the transaction that
the owner of the connection has open.
"""
