-- move_round: a source is no longer what its round was to read: a delete was dated into the snapshot of the round, the
-- snapshot has expired, or the definition of a dynamic table was replaced. What was published before is right, but
-- nobody can read the same any more. So the refreshes of the round that are open and depend on it continue in a new
-- round at the newest snapshot, together with all that they read. The holder completes its task in the same
-- transaction; tasks of the others are cancelled.
--
--   EXECUTING | SCHEDULED | PUBLISHING -> SKIPPED, each of them; PUBLISHED -> SUCCEEDED
--   returns the new round; null, and nothing happens, when p_most rounds have been moved one after another
--   locks   the turn of rounds until the transaction ends, the round, then refresh rows by id; see worker.cancel
--   raises  CM001 the claim was lost
create or replace function lake.move_round(
  p_refresh_id  bigint,
  p_fence       bigint,
  p_tables      bigint[],
  p_text        text,
  p_most        integer
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh  lake.refresh;
  v_round    lake.round;
  v_moved    record;
  v_again    bigint[] := '{}';
  v_round_id bigint;
begin
  perform t.name from worker.turn as t where t.name = 'lake.round' for update;
  perform lake.lock_round(p_refresh_id);
  select r.* into v_refresh
    from lake.refresh as r
   where r.id = p_refresh_id
     and r.fence = p_fence
     and r.state in ('EXECUTING', 'PUBLISHING')
     for update;
  if not found then
    perform lake.raise_not_held(p_refresh_id, p_fence);
  end if;
  select o.* into v_round from lake.round as o where o.id = v_refresh.round_id;
  if v_round.moves >= p_most then
    return null;
  end if;

  for v_moved in
    with recursive below as (
      select s.dt_id from lake.source as s where s.table_id = any (p_tables)
      union
      select v_refresh.dt_id
      union
      select s.dt_id from below as b join lake.source as s on s.source_dt_id = b.dt_id
    )
    select r.id, r.dt_id, r.task_id
      from lake.refresh as r
     where r.round_id = v_round.id
       and r.finished_at is null
       and r.dt_id in (select b.dt_id from below as b)
     order by r.id
       for update
  loop
    if lake.settle_refresh(v_moved.id, 'SKIPPED', null, p_text) = 'SKIPPED' then
      v_again := v_again || v_moved.dt_id;
      if v_moved.id <> p_refresh_id then
        perform worker.cancel(t.id, p_text) from worker.task as t where t.id = v_moved.task_id;
      end if;
    end if;
  end loop;
  v_round_id := lake.open_round(v_round.trigger, v_again, v_round.id);
  perform lake.advance(v_round.id);
  perform lake.set_tick();
  return v_round_id;
end;
$$;
