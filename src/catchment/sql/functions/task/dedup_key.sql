-- dedup_key: the key of tasks that are the same work: command, parent, lane and the declared payload keys.
create or replace function worker.dedup_key(
  p_keys       text[],
  p_command    text,
  p_lane       text,
  p_parent_id  bigint,
  p_payload    jsonb
)
  returns text
  language sql immutable
return p_command || '/'
       || md5(jsonb_build_array(p_parent_id, p_lane,
                                (select jsonb_agg(p_payload -> k order by k) from unnest(p_keys) as k))::text);
