-- load_groups: copy the relationships of power groups into scratch.
--
--   returns the legal units that are or were in one of the groups, in order
--   reads   pg_temp.b_relation
--   writes  pg_temp.b_relation
--   plan    no_jit, generic, indexed
create or replace function register.load_groups(p_power_group_ids integer[])
  returns integer[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into pg_temp.b_relation
  select r.derived_power_group_id, r.influencing_id, r.influenced_id, r.valid_from, r.valid_until
    from register.legal_relationship as r
   where r.derived_power_group_id = any (p_power_group_ids);
  return array(select r.influencing_id from pg_temp.b_relation as r
                union
               select r.influenced_id from pg_temp.b_relation as r
                order by 1);
end;
$$;
