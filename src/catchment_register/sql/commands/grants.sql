-- Rights of the register in the schema of the engine. The engine's grants take these rights from its own roles with
-- every upgrade of the engine, but not from ours.
do $$
declare
  v_function regprocedure;
  v_owner    name := (select pg_catalog.pg_get_userbyid(n.nspowner) from pg_catalog.pg_namespace as n
                       where n.nspname = 'register');
begin
  for v_function in
    select p.oid from pg_catalog.pg_proc as p
     where p.pronamespace = 'worker'::regnamespace and p.prokind = 'f'
       and p.proname in (select 'enqueue_' || c.command from worker.command_registry as c)
  loop
    execute format('grant execute on function %s to %I, register_edit, catchment_worker', v_function, v_owner);
  end loop;
end;
$$;
grant usage on schema worker to register_edit;
