-- suspend: stop the scheduled refreshes of a dynamic table and of those that read it. p_by: user or failures.
--
--   active -> suspended, and all active ones below it, by upstream
--   returns the ids that were suspended
--   locks   the rows of these tables by id
create or replace function lake.suspend(
  p_dt_id  bigint,
  p_by     text default 'user'
)
  returns bigint[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
begin
  with recursive below as (
    select p_dt_id as id
    union
    select s.dt_id from below as b join lake.source as s on s.source_dt_id = b.id
  ), held as (
    select d.id from lake.dt as d join below as b on b.id = d.id where d.state = 'active' order by d.id for update of d
  ), changed as (
    update lake.dt as d
       set state = 'suspended', suspended_by = case d.id when p_dt_id then p_by else 'upstream' end,
           suspended_at = worker.now(), updated_at = worker.now()
      from held as h
     where d.id = h.id
    returning d.id
  )
  select coalesce(array_agg(c.id order by c.id), '{}') into v_ids from changed as c;
  return v_ids;
end;
$$;
