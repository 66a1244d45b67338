-- write_offspring: put what note_offspring noted into the running row, if that attempt is about to end.
--
--   locks   the running row
create or replace function worker.write_offspring(
  p_ids     bigint[],
  p_fences  bigint[]
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  update worker.running as r
     set child_mode    = n.value ->> 'child_mode',
         on_failure    = n.value ->> 'on_failure',
         has_follow_up = coalesce((n.value ->> 'has_follow_up')::boolean, false)
    from jsonb_each(current_setting('worker.offspring')::jsonb) as n,
         unnest(p_ids, p_fences) as u (id, fence)
   where u.id = n.key::bigint
     and r.id = u.id
     and r.fence = u.fence;
  if found then
    perform set_config('worker.offspring', '', true);
  end if;
end;
$$;
