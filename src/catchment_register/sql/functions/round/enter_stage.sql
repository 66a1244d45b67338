-- enter_stage: the round that a stage belongs to, once the stage before it is known to have done its part. A task that
-- was created manually names no round: stages that can begin one do, for a flush and a reduce the answer is null, there
-- is nothing to do.
--
--   locks   the round's row, until the stage commits: nobody gives it back meanwhile
--   raises  RG009 the round is not open, or not at this stage; RG014 another round is open
create or replace function register.enter_stage(
  p_payload  jsonb,
  p_stage    text
)
  returns register.round
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
  v_needs text;
begin
  if p_payload ->> 'round_id' is null then
    return register.begin_stage(p_payload, p_stage);
  end if;
  select r.* into v_round from register.round as r where r.id = (p_payload ->> 'round_id')::bigint for no key update;
  v_needs := case
               when v_round.id is null then 'there is no such round'
               when v_round.state <> 'open' then format('it is %s', v_round.state)
               when p_stage = 'derive_reports' and v_round.kind in ('changes', 'all', 'direct')
                 and v_round.flushed_at is null
                 then 'its units have not been published'
               when p_stage = 'derive_statistical_history_facet' and v_round.facets_reduced_at is null
                 then 'its facets have not been reduced'
             end;
  if v_needs is not null then
    raise exception using
      errcode = 'RG009',
      message = format('%s cannot run in round %s: %s', p_stage, p_payload ->> 'round_id', v_needs),
      hint = 'Nothing is lost: its changes are collected again, and worker.enqueue_collect_changes() does it now.';
  end if;
  return v_round;
end;
$$;
