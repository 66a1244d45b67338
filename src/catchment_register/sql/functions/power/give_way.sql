-- give_way: where people choose the root of a power group by a new row, rows that derivation wrote for that time go;
-- the next round writes those that are still needed. For each row, before it is inserted.
create or replace function register.give_way()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from register.power_root as p
   where p.power_group_id = new.power_group_id
     and p.custom_root_legal_unit_id is null
     and p.valid_from < new.valid_until
     and new.valid_from < p.valid_until;
  return new;
end;
$$;
