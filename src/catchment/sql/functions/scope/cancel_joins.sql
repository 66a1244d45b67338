-- cancel_joins: tasks that wait for their join to start, or to be tried again, settle as cancelled.
--
--   waiting -> cancelled
--   locks   their scope rows, deepest first, then id; then their ready and blocked rows if free
create or replace function worker.cancel_joins(
  p_ids     bigint[],
  p_reason  text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
begin
  perform s.id
     from worker.scope as s
    where s.id = any (p_ids) and s.is_joining
    order by s.depth desc, s.id
      for no key update;
  if not found then
    return;
  end if;
  with unready as (
    delete from worker.ready as r
     where r.ctid = any (array(select x.ctid from worker.ready as x where x.id = any (p_ids) and x.phase = 1
                                  for update skip locked))
    returning r.id
  ),
  unblocked as (
    delete from worker.blocked as b
     where b.ctid = any (array(select x.ctid from worker.blocked as x where x.id = any (p_ids) and x.phase = 1
                                  for update skip locked))
    returning b.id
  )
  select array_agg(g.id) into v_ids from (select * from unready union all select * from unblocked) as g;
  if v_ids is not null then
    perform worker.follow_through(worker.end_scopes(
      v_ids, array_fill('cancelled'::text, array[cardinality(v_ids)]),
      array_fill(jsonb_build_object('kind', 'cancelled', 'message', p_reason), array[cardinality(v_ids)])));
  end if;
end;
$$;
