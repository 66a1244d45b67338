-- note_trouble: note an item that upkeep could not do. It is retried after a second, then after twice as long each
-- time, at most five minutes.
create or replace function worker.note_trouble(
  p_step      text,
  p_item      text,
  p_sqlstate  text,
  p_message   text
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into worker.trouble as t (step, item, sqlstate, message, first_at, last_at, retry_at)
  values (p_step, p_item, p_sqlstate, left(p_message, 2000), worker.now(), worker.now(),
          worker.now() + interval '1 second')
  on conflict (step, item) do update
     set sqlstate = excluded.sqlstate,
         message  = excluded.message,
         count    = t.count + 1,
         last_at  = excluded.last_at,
         retry_at = excluded.last_at + least(interval '5 minutes', interval '1 second' * power(2, least(t.count, 10)));
$$;
