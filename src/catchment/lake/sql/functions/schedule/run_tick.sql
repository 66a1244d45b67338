-- run_tick: handler of the command lake_tick.
create or replace procedure lake.run_tick(
  in     p_payload  jsonb,
  inout  p_info     jsonb default null
)
  language plpgsql
as $$
declare
  v_done jsonb := lake.tick();
begin
  p_info := jsonb_build_object('due', coalesce(v_done -> 'due', '0'));
end;
$$;
