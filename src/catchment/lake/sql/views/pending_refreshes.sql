-- pending_refreshes: open refreshes.
create or replace view lake.pending_refreshes as
select r.id, format('%s.%s', d.schema_name, d.name) as dynamic_table,
       case when r.started_at is null then 'pending' else 'claimed' end as status,
       o.trigger, r.created_at
  from lake.refresh as r
  join lake.round as o on o.id = r.round_id
  join lake.dt as d on d.id = r.dt_id
 where r.finished_at is null;
comment on view lake.pending_refreshes is
  'Refreshes that have not begun (pending), and those that run (claimed).';
