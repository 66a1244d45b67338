-- guard_statistic: require that a value is in the column of its variable's type.
--
--   raises  RG017 the value does not fit its column
--   plan    no_jit
create or replace function register.guard_statistic()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong record;
begin
  select d.code, d.type into v_wrong
    from (select distinct c.stat_definition_id,
                          case when c.value_int is not null    then 'int'
                               when c.value_float is not null  then 'float'
                               when c.value_string is not null then 'string'
                               else 'bool'
                          end as type
            from changed as c) as v
    join register.stat_definition as d on d.id = v.stat_definition_id
   where d.type <> v.type
   limit 1;
  if found then
    raise exception using
      errcode = 'RG017',
      message = format('stat_for_unit: %1$s is of type %2$s, so it needs a value in value_%2$s', v_wrong.code,
                       v_wrong.type);
  end if;
  return null;
end;
$$;
