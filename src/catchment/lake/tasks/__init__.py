"""What the engine runs: the commands of the lake, the attempts of each, and the process that runs them.

The work itself is in ``refresh`` and ``files``.
"""
