-- effective_lag: the target lag of each table, and the expected duration of bringing it up to date. A table with a lag
-- has its own; with DOWNSTREAM the smallest of those that read it, through others with DOWNSTREAM too; null when nobody
-- asks for it. Tables that are not refreshed by themselves ask for nothing.
create or replace view lake.effective_lag as
with recursive asking (dt_id, by_id) as (
  select d.id, d.id from lake.dt as d where d.target_lag is null
  union
  select a.dt_id, s.dt_id
    from asking as a
    join lake.dt as v on v.id = a.by_id and v.target_lag is null
    join lake.source as s on s.source_dt_id = a.by_id
), above (dt_id, id) as (
  select s.dt_id, s.source_dt_id from lake.source as s where s.source_dt_id is not null
  union
  select a.dt_id, s.source_dt_id from above as a join lake.source as s on s.dt_id = a.id
   where s.source_dt_id is not null
), asked as (
  select a.dt_id, min(b.target_lag) as lag
    from asking as a
    join lake.dt as b on b.id = a.by_id and b.state = 'active' and b.scheduler
   group by a.dt_id
), needed as (
  select a.dt_id, sum(u.expected_ms) as ms from above as a join lake.dt as u on u.id = a.id group by a.dt_id
)
select d.id as dt_id, coalesce(d.target_lag, a.lag) as lag, d.expected_ms + coalesce(n.ms, 0) as chain_ms
  from lake.dt as d
  left join asked as a on a.dt_id = d.id
  left join needed as n on n.dt_id = d.id;
comment on view lake.effective_lag is
  'The lag that each dynamic table has to keep (null: nobody asks for it), and the milliseconds that a refresh of it '
  'and of all it reads is expected to take.';
