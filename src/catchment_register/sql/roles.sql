-- The register's roles. None can log in; grant register_edit and register_read to the users that do. They belong to the whole
-- server, so several databases may install at the same moment.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['register_owner', 'register_edit', 'register_read'] loop
    if not exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception
        when duplicate_object or unique_violation then
          null;
      end;
    end if;
  end loop;
  -- Handlers and triggers run as the owner, and make tasks.
  if not pg_catalog.pg_has_role('register_owner', 'catchment_worker', 'member') then
    grant catchment_worker to register_owner;
  end if;
  -- Whoever edits may look.
  if not pg_catalog.pg_has_role('register_edit', 'register_read', 'member') then
    grant register_read to register_edit;
  end if;
  if not pg_catalog.pg_has_role(current_user, 'register_owner', 'member') then
    execute format('grant register_owner to %I', current_user);
  end if;
  if not pg_catalog.has_database_privilege('register_owner', current_database(), 'create')
     or not pg_catalog.has_database_privilege('register_owner', current_database(), 'temporary') then
    execute format('grant create, temporary on database %I to register_owner', current_database());
  end if;
end;
$$;
