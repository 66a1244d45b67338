-- demote_establishments: where rows of a batch are the primary establishment of a legal unit, others are not any more.
-- Always a hash join: the plan may have been made without establishments, and a nested loop would then read the whole
-- table for each row.
--
--   plan    indexed, hashed
create or replace function register.demote_establishments(p_args jsonb)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_others jsonb;
begin
  with row as materialized (
    select d.unit_id, d.owner_id, d.valid_from, d.valid_until
      from register.import_data as d
     where d.job_id = (p_args ->> 'job_id')::integer
       and d.batch_seq = (p_args ->> 'batch_seq')::integer
       and not d.has_error
       and d.is_primary
       and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer
  )
  select jsonb_agg(jsonb_build_object('id', o.id, 'valid_from', greatest(o.valid_from, r.valid_from),
                                      'valid_until', least(o.valid_until, r.valid_until)))
    into v_others
    from row as r
    join register.establishment as o
      on o.legal_unit_id = r.owner_id and o.primary_for_legal_unit and o.id <> r.unit_id
     and o.valid_from < r.valid_until and r.valid_from < o.valid_until
   where o.legal_unit_id = any (array(select k.owner_id from row as k));
  if v_others is not null then
    perform register.patch_slices('establishment', 'id', v_others, '{"primary_for_legal_unit": false}',
                                  p_args ->> 'edit_by', p_args ->> 'note');
  end if;
end;
$$;
