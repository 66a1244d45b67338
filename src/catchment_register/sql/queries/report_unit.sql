-- The published rows of a unit.
select u.*
  from register.find_unit(%(text)s) as f
  join register.statistical_unit as u on u.unit_type = f.unit_type and u.unit_id = f.unit_id
 order by u.valid_from;
