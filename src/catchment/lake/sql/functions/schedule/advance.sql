-- advance: advance a round as far as possible, and all others that no other session is advancing; without an id, all
-- that are free. A refresh without work is settled here; one with work becomes a task. May be called at any time and
-- repeatedly. A round that took long for a table of it asks for the next tick at once: see hasten.
--
--   SCHEDULED -> SUCCEEDED (no_data) | SKIPPED | UPSTREAM_FAILED, or it gets a task
--   EXECUTING | PUBLISHING | PUBLISHED whose task has settled -> see settle_ended
--   locks   the row of the round, then those of other open rounds, then refreshes; all but the first only if they are
--           free
create or replace function lake.advance(p_round_id bigint default null)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rounds bigint[];
begin
  if p_round_id is not null then
    perform o.id from lake.round as o where o.id = p_round_id and o.closed_at is null for no key update;
  end if;
  select array_agg(n.id) into v_rounds
    from (select o.id from lake.round as o where o.closed_at is null order by o.id for no key update skip locked) as n;
  if v_rounds is null then
    return;
  end if;

  perform lake.settle_ended(v_rounds);
  -- What is settled here may be what a table below, or the next round of the same table, has waited for.
  while lake.move_refreshes(v_rounds) loop
  end loop;
  with closed as (
    update lake.round as o
       set closed_at = worker.now()
     where o.id = any (v_rounds)
       and not exists (select from lake.refresh as r where r.round_id = o.id and r.finished_at is null)
    returning o.id
  )
  select array_agg(c.id) into v_rounds from closed as c;
  if v_rounds is not null then
    perform lake.hasten(v_rounds);
  end if;
end;
$$;
