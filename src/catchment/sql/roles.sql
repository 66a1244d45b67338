-- The four roles. None can log in; grant them to the users that do. They belong to the whole server, so several databases
-- may install at the same moment.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['catchment_owner', 'catchment_worker', 'catchment_enqueue', 'catchment_read'] loop
    if not exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception
        when duplicate_object or unique_violation then
          null;
      end;
    end if;
  end loop;
  -- Whoever runs tasks may make tasks.
  if not pg_catalog.pg_has_role('catchment_worker', 'catchment_enqueue', 'member') then
    grant catchment_enqueue to catchment_worker;
  end if;
end;
$$;
