"""How the result of a definition is kept up to date: the SQL of each change.

Pure: algebra over syntax trees, in and out. A definition is analysed into a relation, laid out as a table with its
states, and compiled. Nothing here runs the SQL; ``refresh`` does.
"""
