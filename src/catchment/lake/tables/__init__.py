"""What users ask for: create, change and drop dynamic tables, request a round, and look at the result.

The methods of ``Lake`` lead here; no task of the engine does.
"""
