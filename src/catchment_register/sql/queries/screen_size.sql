-- About how many rows one period of the history by facet has, by the planner's statistics.
select (greatest(c.reltuples, 0) / greatest(1, (select count(*) from register.statistical_history_row as h
                                                  where h.unit_type = 'enterprise')))::bigint as rows
  from pg_class as c
 where c.oid = 'register.statistical_history_facet_row'::regclass;
