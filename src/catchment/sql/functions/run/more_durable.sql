-- more_durable: the stricter of two values of synchronous_commit.
create or replace function worker.more_durable(
  p_one    text,
  p_other  text
)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case
           when array_position('{off,local,remote_write,on,remote_apply}', p_other)
                > array_position('{off,local,remote_write,on,remote_apply}', p_one) then p_other
           else p_one
         end;
$$;
