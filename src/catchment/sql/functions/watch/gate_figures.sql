-- gate_figures: limits of commands at work, those with the most tasks waiting first, then by places taken, with up to
-- five tasks that hold a place. They are looked for in p_pages pages of the tables, as in lane_figures; so are waiting,
-- which counts up to 1000, and about.
--
--   plan    probe
create or replace function worker.gate_figures(
  p_limit  integer default 20,
  p_pages  integer default 400
)
  returns table (gate text, command text, limit_key text[], max_running integer, rate integer, rate_seconds float8,
                 held integer, tokens float8, next_at timestamptz, waiting bigint, about bigint, holders jsonb,
                 is_sampled boolean)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_seed  constant integer := 7;
  c_most  constant integer := 1000;
  c_near  constant integer := 200; -- holders are looked for among this number of tasks
  v_line  double precision := least(1, p_pages * 8192.0 / greatest(pg_relation_size('worker.blocked'), 1));
  v_gates double precision := least(1, p_pages * 8192.0 / greatest(pg_relation_size('worker.gate'), 1));
begin
  return query
  with line as materialized (
    select b.lane as gate, count(*) as n
      from worker.blocked as b tablesample system (100 * v_line) repeatable (c_seed)
     where b.reason = 'limit'
     group by b.lane
  ), chosen as (
    (select l.gate from line as l order by l.n desc, l.gate limit p_limit)
    union
    (select g.gate
       from worker.gate as g tablesample system (100 * v_gates) repeatable (c_seed)
      where g.held > 0
      order by g.held desc, g.gate
      limit p_limit)
  ), seen as (
    select c.gate, g.held, g.tokens, g.refilled_at, g.next_at,
           coalesce(g.command, (select t.command from worker.task as t where t.gate = c.gate limit 1)) as command,
           (select count(*)
              from (select from worker.blocked as b where b.reason = 'limit' and b.lane = c.gate limit c_most) as x)
             as waiting,
           (select min(x.id)
              from (select b.id from worker.blocked as b where b.reason = 'limit' and b.lane = c.gate
                     order by b.band, b.place, b.id limit c_near) as x) as first_id,
           (select round(l.n / v_line)::bigint from line as l where l.gate = c.gate) as about
      from chosen as c
      left join worker.gate as g on g.gate = c.gate
  )
  select s.gate, s.command, r.limit_key, r.max_running, r.rate, extract(epoch from r.rate_per)::float8,
         coalesce(s.held, 0),
         worker.refilled(coalesce(s.tokens, r.rate), coalesce(s.refilled_at, worker.now()), worker.now(), r.rate,
                         r.rate_per),
         s.next_at, s.waiting, greatest(s.about, s.waiting),
         (select coalesce(jsonb_agg(worker.standing(h.id) order by h.id), '[]')
            from worker.gate_holders(s.gate, coalesce(s.first_id, 9223372036854775807), c_near) as h (id)
           where s.held > 0),
         v_line < 1 or v_gates < 1
    from seen as s
    left join worker.command_registry as r on r.command = s.command
   order by greatest(s.about, s.waiting) desc nulls last, s.held desc nulls last, s.gate
   limit p_limit;
end;
$$;
