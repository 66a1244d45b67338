-- said_state: what a task does, for people, from its standing: 'processing since …'. Null without one.
create or replace function worker.said_state(
  p_standing  jsonb,
  p_now       timestamptz
)
  returns text
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case coalesce(p_standing ->> 'waits_for', p_standing ->> 'state')
           when 'pending'   then 'ready'
           when 'children'  then 'waiting for its children'
           when 'join'      then 'waiting for its join'
           when 'scheduled' then 'not due'
           when 'retry'     then 'waiting for its next attempt'
           when 'snooze'    then 'snoozing'
           when 'lane'      then 'waiting for its lane'
           when 'serial'    then 'waiting for a sibling'
           when 'follow_up' then 'waiting for its root'
           when 'merged'    then 'merged into another'
           when 'limit'     then 'waiting for its limit'
           else p_standing ->> 'state'
         end || coalesce(' since ' || worker.said_when((p_standing ->> 'since')::timestamptz, p_now), '');
$$;
