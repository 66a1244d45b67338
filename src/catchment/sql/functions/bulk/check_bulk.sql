-- check_bulk: refuse a verb or a filter that start_bulk and count_bulk do not know. Keys of the filter: state, command,
-- queue, lane, error, made_after, made_before, top; ids: an array of at most 1,000 tasks; and for retry, parent: the
-- children of one task. Without a state, retry means failed tasks, and with ids cancelled ones too; cancel means
-- unsettled ones.
--
--   raises  CM018 an option has an invalid value
create or replace function worker.check_bulk(
  p_verb    text,
  p_filter  jsonb
)
  returns void
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_keys constant text[] := '{state,command,queue,lane,error,made_after,made_before,top,ids,parent}';
  v_states text[];
  v_wrong  text;
begin
  v_states := case p_verb
                when 'retry' then array['failed', 'cancelled']
                when 'cancel' then array['pending', 'interrupted', 'processing', 'waiting']
              end;
  if v_states is null then
    raise exception using
      errcode = 'CM018', message = format('the verb is %L, expected retry or cancel', p_verb);
  elsif p_filter is null or jsonb_typeof(p_filter) <> 'object' then
    raise exception using
      errcode = 'CM018',
      message = format('the filter is %s, expected an object', coalesce(left(p_filter::text, 80), 'null'));
  end if;
  select k into v_wrong from jsonb_object_keys(p_filter) as k where k <> all (c_keys) order by k limit 1;
  if found then
    raise exception using
      errcode = 'CM018',
      message = format('the filter has the key %s, expected some of %s', v_wrong, array_to_string(c_keys, ', '));
  end if;
  if p_verb = 'cancel' and p_filter ? 'parent' then
    raise exception using
      errcode = 'CM018',
      message = 'the filter has the key parent, and cancel takes none',
      hint = 'Cancel the parent: its children are cancelled with it.';
  end if;
  if p_filter ? 'ids' and (case jsonb_typeof(p_filter -> 'ids')
                             when 'array' then jsonb_array_length(p_filter -> 'ids') not between 1 and 1000
                             else true
                           end) then
    raise exception using
      errcode = 'CM018',
      message = format('the filter has the ids %s, expected an array of 1 to 1000 ids', left(p_filter ->> 'ids', 80)),
      hint = 'Filter by state, command, queue, lane, error or time to name more.';
  end if;
  if p_filter ->> 'state' <> all (v_states) then
    raise exception using
      errcode = 'CM018',
      message = format('the filter has the state %s, and %s is for tasks that are %s', p_filter ->> 'state', p_verb,
                       array_to_string(v_states, ', '));
  end if;
  begin
    perform (p_filter ->> 'made_after')::timestamptz, (p_filter ->> 'made_before')::timestamptz,
            (p_filter ->> 'top')::boolean, (p_filter ->> 'parent')::bigint,
            (select count(e::bigint) from jsonb_array_elements_text(coalesce(p_filter -> 'ids', '[]')) as e);
  exception
    when data_exception then
      raise exception using errcode = 'CM018', message = 'the filter cannot be read: ' || sqlerrm;
  end;
end;
$$;
