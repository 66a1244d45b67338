-- explain: why a figure is not up to date: every cause (is_blocking), and further facts. If nothing is blocking, it
-- shows everything that was committed. p_of: the subject, see find_subject. For the tasks that update the figure, it
-- includes the output of worker.explain. It looks at a bounded number of rows, and takes no lock.
--
--   raises  RG024 the identifier matches no unit or several
create or replace function register.explain(p_of text default null)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now     timestamptz := worker.now();
  v_of      register.subject := register.find_subject(p_of);
  v_round   worker.condition[];
  v_waiting worker.condition[];
begin
  v_round := array(select c from register.explain_round(v_of, v_now) as c);
  v_waiting := array(select c from register.explain_waiting(v_of, v_now) as c);
  return query select c.* from unnest(v_waiting) as c;
  if v_waiting <> '{}' then
    return query select c.* from register.explain_collection() as c;
  end if;
  return query select c.* from unnest(v_round) as c;
  if v_waiting <> '{}' or v_round <> '{}' then
    return query select c.* from register.explain_failure(v_round = '{}', v_now) as c;
  else
    return query select c.* from register.explain_current(v_of, v_now) as c;
  end if;
  return query select c.* from register.explain_imports() as c;
end;
$$;
