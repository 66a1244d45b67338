-- is_zero: whether measures count nothing. Inlined, therefore without settings of its own.
create or replace function register.is_zero(p_measures register.measures)
  returns boolean
  language sql
  immutable
  parallel safe
as $$
  select p_measures = '(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)'::register.measures;
$$;
