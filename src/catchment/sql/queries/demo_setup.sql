-- demo_setup: a queue, a parent that spawns, and children that work for a moment; number 17 fails at its first attempt,
-- and those of the second half hang in the sessions of worker 1, so that it holds some when it is killed.
create schema if not exists demo;
create table if not exists demo.effect (task_id bigint not null, n integer not null);
truncate demo.effect;

create or replace procedure demo.run_parent(payload jsonb)
  language plpgsql
as $$
begin
  for n in 1 .. (payload ->> 'children')::integer loop
    call worker.spawn('demo_child', jsonb_build_object('n', n, 'of', payload -> 'children'));
  end loop;
end;
$$;

create or replace procedure demo.run_child(payload jsonb)
  language plpgsql
as $$
begin
  insert into demo.effect values (worker.current_task_id(), (payload ->> 'n')::integer);
  perform pg_sleep(
    case
      when current_setting('demo.worker', true) = '1' and 2 * (payload ->> 'n')::integer > (payload ->> 'of')::integer
      then 30
      else 0.05
    end);
  if (payload ->> 'n')::integer = 17
     and (select t.attempt from worker.tasks as t where t.id = worker.current_task_id()) = 1 then
    raise exception 'the remote service did not answer';
  end if;
end;
$$;

insert into worker.queue_registry (queue, concurrency, description)
values ('demo', 4, 'What catchment demo shows.')
on conflict do nothing;
insert into worker.command_registry (command, queue, handler_procedure, max_attempts, retry_delay)
values ('demo_parent', 'demo', 'demo.run_parent', 1, '1 second'), ('demo_child', 'demo', 'demo.run_child', 3, '200 ms')
on conflict do nothing
