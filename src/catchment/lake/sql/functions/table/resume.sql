-- resume: resume the scheduled refreshes of a dynamic table, and of those below it that were suspended because of it.
--
--   suspended -> active
--   returns the ids that were resumed
--   locks   the rows of these tables by id
--   raises  CM031 a source of the table is suspended
create or replace function lake.resume(p_dt_id bigint)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_above text;
  v_ids   bigint[] := '{}';
  v_more  bigint[] := array[p_dt_id];
begin
  select string_agg(format('%s.%s', u.schema_name, u.name), ', ' order by u.id) into v_above
    from lake.source as s
    join lake.dt as u on u.id = s.source_dt_id
   where s.dt_id = p_dt_id
     and u.state = 'suspended';
  if v_above is not null then
    raise exception using
      errcode = 'CM031',
      message = format('dynamic table %s cannot be resumed while %s is suspended, which it reads',
                       (select format('%s.%s', d.schema_name, d.name) from lake.dt as d where d.id = p_dt_id), v_above),
      hint = 'Resume that one: those below it come with it.';
  end if;
  -- Level by level: one below has its turn when nothing above it is suspended any more.
  while v_more <> '{}' loop
    perform d.id from lake.dt as d where d.id = any (v_more) and d.state = 'suspended' order by d.id for update;
    update lake.dt as d
       set state = 'active', suspended_by = null, suspended_at = null, error_streak = 0, last_attempt_at = null,
           updated_at = worker.now()
     where d.id = any (v_more)
       and d.state = 'suspended';
    v_ids := v_ids || v_more;
    v_more := array(select distinct d.id
                      from lake.source as s
                      join lake.dt as d on d.id = s.dt_id
                     where s.source_dt_id = any (v_more)
                       and d.state = 'suspended'
                       and d.suspended_by = 'upstream'
                       and not exists (select
                                         from lake.source as o
                                         join lake.dt as u on u.id = o.source_dt_id
                                        where o.dt_id = d.id
                                          and u.state = 'suspended'));
  end loop;
  perform lake.set_tick();
  return v_ids;
end;
$$;
