-- How many rows each derived table has.
select (select count(*) from register.statistical_unit_row) as unit_rows,
       (select count(*) from register.statistical_history_row) as history_rows,
       (select count(*) from register.statistical_unit_facet_row) as facet_rows,
       (select count(*) from register.statistical_history_facet_row) as history_facet_rows;
