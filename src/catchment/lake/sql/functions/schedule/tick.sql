-- tick: one pass of the schedule of dynamic tables: find what the lake's new snapshots have changed, advance open
-- rounds, and open a round for the tables that are due. Connected tables come together, at one snapshot; where one of
-- them is still being refreshed, all of them wait for the next turn.
--
--   returns {"head", "due", "round_id"}, or {"busy": 1} when another session runs it
--   locks   the turn of ticks, that of rounds if it is free; see advance
create or replace function lake.tick()
  returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_head     bigint;
  v_due      bigint[];
  v_round_id bigint;
begin
  if not worker.take_turn('lake.tick') then
    return jsonb_build_object('busy', 1);
  end if;
  v_head := lake.scan_changes();
  if exists (select from lake.dt as d where d.component = 0 and d.state in ('active', 'suspended')) then
    perform lake.set_components();
  end if;
  perform lake.watch_refreshes();
  perform lake.advance();

  v_due := array(select d.id
                   from lake.due(worker.now()) as u (id)
                   join lake.dt as d on d.id = u.id
                  where not exists (select
                                      from lake.refresh as r
                                      join lake.dt as n on n.id = r.dt_id
                                     where n.component = d.component
                                       and r.finished_at is null)
                  order by d.id);
  if v_due <> '{}' and worker.take_turn('lake.round') then
    v_round_id := lake.open_round('scheduled', v_due);
    v_head := (select o.snapshot from lake.round as o where o.id = v_round_id);
    perform lake.advance(v_round_id);
  end if;
  perform lake.request_upkeep();
  perform lake.set_tick();
  return jsonb_build_object('head', v_head, 'due', cardinality(v_due), 'round_id', v_round_id);
end;
$$;
