-- explain_round: the open round, if it will publish the subject and has not done so yet: its phase, its step with the
-- progress, and why its task does not run, if it does not. See explain.
create or replace function register.explain_round(
  p_of   register.subject,
  p_now  timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
  v_stage record;
begin
  select r.* into v_round
    from register.round as r
   where r.state = 'open'
     and case p_of.kind
           when 'register' then true
           when 'report' then not exists (select from register.report_state as s
                                           where s.report = p_of.name
                                             and s.applied_flush_id >= r.flush_id
                                             and s.through = register.report_through(r.today))
           else r.kind in ('changes', 'all', 'direct') and r.flushed_at is null
         end
     and (p_of.kind <> 'unit'
          or r.kind = 'all'
          or r.establishment_ids && p_of.establishment_ids
          or r.legal_unit_ids && p_of.legal_unit_ids
          or r.enterprise_ids && p_of.enterprise_ids
          or r.power_group_ids && p_of.power_group_ids);
  if not found then
    return;
  end if;
  select t.id, t.command, w.phase, t.progress ->> 'done' as done, t.progress ->> 'total' as total into v_stage
    from worker.open_tasks('{analytics}') as t
    join register.pipeline_step_weight as w on w.step = t.command
   where t.payload ->> 'round_id' = v_round.id::text
   order by w.seq, t.id
   limit 1;
  return next (
    'round', true,
    jsonb_strip_nulls(jsonb_build_object(
      'round', v_round.id, 'kind', v_round.kind, 'since', v_round.started_at, 'phase', v_stage.phase,
      'step', v_stage.command, 'task_id', v_stage.id, 'done', v_stage.done::integer, 'total', v_stage.total::integer)),
    format('Round %s has been deriving it since %s%s.', v_round.id, worker.said_when(v_round.started_at, p_now),
           case when v_stage.id is null then ', but has no tasks any more: the next collection restarts the work'
             else format('; current step: %s of phase %s%s', v_stage.command, v_stage.phase,
                         case when v_stage.total is null then ''
                           else format(', %s of %s done', v_stage.done, v_stage.total) end) end),
    case when v_stage.id is null then 'catchment register derive  # request one' end)::worker.condition;
  if v_stage.id is not null then
    return query select c.* from register.explain_task(v_stage.id) as c;
  end if;
end;
$$;
