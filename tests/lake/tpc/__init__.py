"""The queries of TPC-H and TPC-DS as dynamic tables: 121 queries that people did not write for us."""
