-- The establishment that most people work in today.
select u.unit_id, u.name, n.unit_id as enterprise_id, split_part(u.physical_region_path, '.', 1) as region_path,
       (u.stats -> 'employees' ->> 'value')::integer as employees
  from register.statistical_unit as u
  join register.statistical_unit as n
    on n.unit_type = 'enterprise' and n.valid_from <= register.today() and n.valid_until > register.today()
   and u.unit_id = any (n.included_establishment_ids)
 where u.unit_type = 'establishment'
   and u.valid_from <= register.today()
   and u.valid_until > register.today()
   and u.used_for_counting
   and u.stats -> 'employees' ->> 'value' is not null
 order by employees desc, u.unit_id
 limit 1;
