-- last_end: how the last refresh of a table ended that was not skipped. Null if there was none.
create or replace function lake.last_end(p_dt_id bigint)
  returns lake.refresh
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh lake.refresh;
begin
  select r.* into v_refresh
    from lake.refresh as r
   where r.dt_id = p_dt_id
     and r.finished_at is not null
     and r.state <> 'SKIPPED'
   order by r.id desc
   limit 1;
  return v_refresh;
end;
$$;
