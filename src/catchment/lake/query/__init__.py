"""What the definition of a dynamic table says.

Pure: the statement as it was typed, its syntax tree, the functions that it calls, and what is refused in it. How a
result is kept up to date is in ``delta``.
"""
