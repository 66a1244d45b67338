-- follow_through: carry out the consequences of settled tasks: folded twins, parents (level by level, deepest first),
-- follow-ups, lanes, hooks. Also counts the children this transaction spawned into open scopes. p_changes are what else
-- scopes have to count.
--
--   locks   scope rows deepest first, then id; then lane rows by key; then gate rows that are free; then ready rows
--   raises  CM005 the parent accepts no more children
create or replace function worker.follow_through(
  p_settled  worker.settled[],
  p_changes  worker.scope_change[] default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_new     worker.settled[] := worker.settle_merged(p_settled);
  v_all     worker.settled[] := v_new;
  v_changes worker.scope_change[] := p_changes || worker.take_late();
  v_depth   smallint;
  v_heads   worker.lane_head[];
begin
  loop
    select v_changes || array_agg(worker.counted_change(
             i.parent_id, i.depth - 1, p_settled => 1, p_failed => (i.state = 'failed')::integer,
             p_cancelled => (i.state = 'cancelled')::integer, p_has_info => i.has_info, p_advances => i.was_active))
      into v_changes
      from unnest(v_new) as i
     where i.parent_id is not null;

    select max(c.depth) into v_depth from unnest(v_changes) as c;
    exit when v_depth is null;
    v_new := worker.settle_merged(worker.change_scopes(array(select c from unnest(v_changes) as c
                                                              where c.depth = v_depth)));
    v_all := v_all || v_new;
    v_changes := array(select c from unnest(v_changes) as c where c.depth < v_depth);
  end loop;

  if exists (select from unnest(v_all) as i where i.has_follow_up) then
    perform worker.release_follow_ups(v_all);
  end if;
  v_heads := array(select (i.id, i.command, i.queue_id, i.lane, i.state = 'failed')::worker.lane_head
                     from unnest(v_all) as i where i.lane is not null);
  if v_heads <> '{}' then
    perform worker.advance_lanes(v_heads);
  end if;
  if exists (select from worker.gate) then
    perform worker.release_gates(v_all);
  end if;
  insert into worker.after_call (task_id, command)
  select i.id, i.command from unnest(v_all) as i where i.has_after;
end;
$$;
