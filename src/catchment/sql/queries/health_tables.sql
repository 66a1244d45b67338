-- health_tables: the largest tables of our schemas, with their dead rows.
select t.schemaname || '.' || t.relname as name, pg_total_relation_size(t.relid) as bytes, t.n_live_tup as live,
       t.n_dead_tup as dead, greatest(t.last_vacuum, t.last_autovacuum) as vacuumed_at,
       greatest(t.last_analyze, t.last_autoanalyze) as analyzed_at
  from pg_stat_user_tables as t
 where t.schemaname in ('worker', 'lake', 'register')
 order by bytes desc, name
 limit 15
