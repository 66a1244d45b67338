"""The rules of the engine as checks. Each tries its rule in a database of its own and says what was violated.

A check returns one line for each violation, none when the rule holds. ``breaking`` has ways to break a rule on purpose.
"""
