-- unit_idents: the identifiers of some units. A unit is a number as link_units has it: positive for the kind of unit
-- that the job is about; where that may be any, establishments are negative.
--
--   plan    indexed
create or replace function register.unit_idents(
  p_mode   text,
  p_units  integer[]
)
  returns table (type_id integer, ident text, unit integer)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select e.type_id, e.ident, e.legal_unit_id
    from register.external_ident as e
   where p_mode in ('legal_unit', 'generic_unit')
     and e.legal_unit_id = any (p_units)
  union all
  select e.type_id, e.ident, case p_mode when 'generic_unit' then -e.establishment_id else e.establishment_id end
    from register.external_ident as e
   where p_mode <> 'legal_unit'
     and e.legal_unit_id is null
     and e.establishment_id = any (array(select case p_mode when 'generic_unit' then -u else u end
                                           from unnest(p_units) as u));
$$;
