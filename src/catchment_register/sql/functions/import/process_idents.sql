-- process_idents: identifiers of rows of a batch that their units do not have yet.
create or replace function register.process_idents(
  p_owner  text,
  p_args   jsonb
)
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
  set enable_nestloop = off
  set enable_mergejoin = off
as $$
  with ident as materialized (
    -- Rows of one unit agree.
    select t.id as type_id, d.unit_id, min(i.value collate "C") as ident
      from register.import_data as d
     cross join lateral unnest(d.ident) with ordinality as i (value, n)
      join (select t.value::integer as id, t.n
              from jsonb_array_elements_text(p_args -> 'types') with ordinality as t (value, n)) as t on t.n = i.n
     where d.job_id = (p_args ->> 'job_id')::integer
       and d.batch_seq = (p_args ->> 'batch_seq')::integer
       and not d.has_error
       and d.unit_id between (p_args ->> 'first')::integer and (p_args ->> 'last')::integer
       and i.value is not null
     group by t.id, d.unit_id
  ),
  known as (
    select e.type_id, e.legal_unit_id as unit_id from register.external_ident as e
     where p_owner = 'legal_unit_id' and e.legal_unit_id = any (array(select i.unit_id from ident as i))
    union all
    select e.type_id, e.establishment_id from register.external_ident as e
     where p_owner = 'establishment_id' and e.legal_unit_id is null
       and e.establishment_id = any (array(select i.unit_id from ident as i))
  )
  insert into register.external_ident (type_id, ident, legal_unit_id, establishment_id, edit_by, edit_comment)
  select i.type_id, i.ident, case p_owner when 'legal_unit_id' then i.unit_id end,
         case p_owner when 'establishment_id' then i.unit_id end, p_args ->> 'edit_by', p_args ->> 'note'
    from ident as i
   where not exists (select from known as k where k.type_id = i.type_id and k.unit_id = i.unit_id);
$$;
