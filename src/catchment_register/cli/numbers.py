"""The largest number that options take: what integer columns hold, and limits of rows."""

LARGEST_INTEGER = 2**31 - 1
