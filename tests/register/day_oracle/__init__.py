"""The whole register once more, day by day: a small program that reads the base tables and nothing else.

It shares neither SQL nor Python with the pipeline, nor with ``catchment_register.reference``. It knows no segments:
what a unit is on a day is looked up for that day. Only days on which something begins or ends are looked at, for
nothing is different on the others.
"""
