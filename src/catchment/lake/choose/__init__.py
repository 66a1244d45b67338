"""What a refresh does: incrementally or in full, alone or by subtasks, and how its keys are divided.

Pure decisions over figures and settings. Reading the figures and acting on the decision is left to ``refresh`` and
``tasks``.
"""
