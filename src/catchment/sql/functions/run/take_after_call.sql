-- take_after_call: take one after call that is due, of any task or (p_any false) of SQL tasks only. call_text is null
-- if the procedure does not exist, procedure_name too if the command has no hook any more.
--
--   plan    walk
create or replace function worker.take_after_call(p_any boolean default true)
  returns table (task_id bigint, call_text text, procedure_name text, payload jsonb)
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from worker.after_call as a
     where a.ctid = (select x.ctid
                      from worker.after_call as x
                     where p_any or exists (select from worker.task as t where t.id = x.task_id and t.kind = 's')
                     limit 1
                       for update skip locked)
    returning a.*
  )
  select g.task_id, worker.call_text(c.after_procedure, 1), c.after_procedure, t.payload
    from gone as g
    left join worker.task as t on t.id = g.task_id
    left join worker.command_registry as c on c.command = g.command and t.id is not null;
$$;
