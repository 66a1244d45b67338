-- process_tags: tags of rows of a batch that their units do not have yet.
create or replace function register.process_tags(
  p_owner  text,
  p_args   jsonb
)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  insert into register.tag_for_unit (tag_id, legal_unit_id, establishment_id, edit_by, edit_comment)
  select distinct d.tag_id, case p_owner when 'legal_unit_id' then d.unit_id end,
         case p_owner when 'establishment_id' then d.unit_id end, p_args ->> 'edit_by', p_args ->> 'note'
    from register.import_data as d
   where d.job_id = (p_args ->> 'job_id')::integer
     and d.batch_seq = (p_args ->> 'batch_seq')::integer
     and not d.has_error
     and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer
     and d.tag_id is not null
  on conflict do nothing;
$$;
