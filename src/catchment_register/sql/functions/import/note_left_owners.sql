-- note_left_owners: which legal units lose their primary establishment to another one by rows of a batch, before the
-- rows come in. Who follows is known when all batches are in.
create or replace function register.note_left_owners(p_args jsonb)
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  update register.import_batch as b
     set left_legal_unit_ids = b.left_legal_unit_ids + l.ids
    from (select range_agg(int4range(e.legal_unit_id, e.legal_unit_id, '[]')) as ids
            from register.import_data as d
            join register.establishment as e
              on e.id = d.unit_id and e.primary_for_legal_unit and e.legal_unit_id <> d.owner_id
             and e.valid_from < d.valid_until and d.valid_from < e.valid_until
           where d.job_id = (p_args ->> 'job_id')::integer
             and d.batch_seq = (p_args ->> 'batch_seq')::integer
             and not d.has_error
             and not d.is_new
             and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer) as l
   where b.job_id = (p_args ->> 'job_id')::integer
     and b.batch_seq = (p_args ->> 'batch_seq')::integer
     and l.ids is not null;
$$;
