-- guard_ident: require that an identifier of a hierarchical type is a path: labels of letters, digits and _, with dots
-- between them.
--
--   raises  RG017 the value does not fit its column
--   plan    no_jit
create or replace function register.guard_ident()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_types integer[] := array(select t.id from register.external_ident_type as t where t.shape = 'hierarchical');
  v_wrong record;
begin
  if v_types = '{}' then
    return null;
  end if;
  select c.ident, t.code into v_wrong
    from changed as c
    join register.external_ident_type as t on t.id = c.type_id
   where c.type_id = any (v_types)
     and not register.is_path(c.ident)
   limit 1;
  if found then
    raise exception using
      errcode = 'RG017',
      message = format('external_ident: %s is no path, and identifiers of type %s are', quote_literal(v_wrong.ident),
                       v_wrong.code),
      hint = 'Write labels of letters, digits and _ with dots between them: north.17.3.';
  end if;
  return null;
end;
$$;
