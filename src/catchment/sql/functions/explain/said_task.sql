-- said_task: a task for people, from its standing: 'task 7 (send)'. Null without one.
create or replace function worker.said_task(p_standing jsonb)
  returns text
  language sql immutable
return 'task ' || (p_standing ->> 'id') || ' (' || (p_standing ->> 'command') || ')';
