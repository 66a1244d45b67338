-- is_zero: whether measures count nothing: only then adding them to themselves changes nothing. Inlined, therefore
-- without settings of its own.
create or replace function register.is_zero(p_measures register.measures)
  returns boolean
  language sql immutable parallel safe
as $$
  select register.add_measures(p_measures, p_measures) = p_measures;
$$;
