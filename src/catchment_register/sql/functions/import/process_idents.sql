-- process_idents: identifiers of rows of a batch that their units do not have yet. A new unit has none.
--
--   plan    hashed
create or replace function register.process_idents(
  p_owner  text,
  p_args   jsonb
)
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_by    text := p_args ->> 'edit_by';
  v_note  text := p_args ->> 'note';
  v_types integer[] := array(select t.value::integer
                               from jsonb_array_elements_text(p_args -> 'types') with ordinality as t (value, n)
                              order by t.n);
begin
  with row as materialized (
    select d.row_no, d.unit_id, d.is_new, d.ident
      from register.import_data as d
     where d.job_id = (p_args ->> 'job_id')::integer
       and d.batch_seq = (p_args ->> 'batch_seq')::integer
       and not d.has_error
       and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer
  ),
  known as (
    select e.type_id, e.legal_unit_id as unit_id from register.external_ident as e
     where p_owner = 'legal_unit_id' and e.legal_unit_id = any (array(select r.unit_id from row as r
                                                                       where not r.is_new))
    union all
    select e.type_id, e.establishment_id from register.external_ident as e
     where p_owner = 'establishment_id' and e.legal_unit_id is null
       and e.establishment_id = any (array(select r.unit_id from row as r where not r.is_new))
  )
  insert into register.external_ident (type_id, ident, legal_unit_id, establishment_id, edit_by, edit_comment)
  -- Rows of one unit agree. In the order of units, which is that of the index of owners.
  select distinct on (i.unit_id, i.type_id) i.type_id, i.ident, case p_owner when 'legal_unit_id' then i.unit_id end,
         case p_owner when 'establishment_id' then i.unit_id end, v_by, v_note
    from (select r.unit_id, t.id as type_id, r.ident[t.n] collate "C" as ident
            from unnest(v_types) with ordinality as t (id, n)
           cross join row as r
           where r.ident[t.n] is not null) as i
   where not exists (select from known as k where k.type_id = i.type_id and k.unit_id = i.unit_id)
   order by i.unit_id, i.type_id;
end;
$$;
