-- interrupt_abandoned: interrupt attempts whose owner is gone. A SQL task is abandoned when its backend no longer holds
-- its lock, even if another session does: its transaction ended with the backend. A Python task is abandoned when its
-- worker process is dead.
--
--   processing -> interrupted, or failed at the fifth time
--   locks   running rows that are free; then see settle
--   plan    walk
create or replace function worker.interrupt_abandoned(
  p_dead  bigint[],
  p_only  bigint default null
)
  returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids    bigint[];
  v_fences bigint[];
  v_aside  bigint[] := case when p_only is null then worker.set_aside('interrupt') || worker.set_aside('orphan')
                           else '{}'
                      end;
begin
  with held as (
    select h.key, h.pid
      from worker.lock_holders(array(select r.backend_key from worker.running as r
                                      where r.backend_key is not null)) as h
  ),
  lost as (
    select r.id, r.fence
      from worker.running as r
     where r.backend_key is not null
       and not exists (select from held as h where h.key = r.backend_key and h.pid = r.worker_pid)
       and (p_only is null or r.id = p_only)
       and r.id <> all (v_aside)
       for update of r skip locked
  )
  select array_agg(l.id), array_agg(l.fence) into v_ids, v_fences from lost as l;
  if p_dead <> '{}' then
    with lost as (
      select r.id, r.fence
        from worker.running as r
       where r.backend_key is null
         and r.worker_id = any (p_dead)
         and (p_only is null or r.id = p_only)
         and r.id <> all (v_aside)
         for update of r skip locked
    )
    select v_ids || array_agg(l.id), v_fences || array_agg(l.fence) into v_ids, v_fences from lost as l;
  end if;
  if v_ids is not null then
    perform worker.settle(v_ids, v_fences, array_fill('interrupted'::text, array[cardinality(v_ids)]),
                          array_fill('{"kind": "interrupted", "message": "its worker died"}'::jsonb,
                                     array[cardinality(v_ids)]));
  end if;
  return coalesce(cardinality(v_ids), 0);
end;
$$;
