-- write_audit: record what a user did, or tried to do, manually. With an action that succeeds it is written in the same
-- transaction, so no such action lacks its row. Rows are never changed.
create or replace function worker.write_audit(
  p_actor    text,
  p_role     text,
  p_action   text,
  p_subject  text,
  p_request  jsonb,
  p_result   text,
  p_detail   text default null
)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into worker.audit (at, actor, role, login, action, subject, request, result, detail)
  values (worker.now(), left(p_actor, 200), left(p_role, 200), session_user, left(p_action, 200), left(p_subject, 1000),
          case when length(p_request::text) <= 20000 then p_request end, p_result, left(p_detail, 2000))
  returning id;
$$;
