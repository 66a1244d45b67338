-- derived_rows: all that is derived, row by row, as JSON; of reports the values apart, without how many hold an
-- extreme. Inlined, therefore without settings of its own.
create or replace function register.derived_rows()
  returns table (name text, content jsonb, moments register.moment[])
  language sql stable
as $$
  select 'statistical_unit', to_jsonb(u), null::register.moment[] from register.statistical_unit_row as u
  union all
  select 'statistical_history', to_jsonb(h) - 'moments', register.plain_moments(h.moments)
    from register.statistical_history_row as h
  union all
  select 'statistical_unit_facet', to_jsonb(f) - 'moments', register.plain_moments(f.moments)
    from register.statistical_unit_facet_row as f
  union all
  select 'statistical_history_facet', to_jsonb(h) - 'moments', register.plain_moments(h.moments)
    from register.statistical_history_facet_row as h;
$$;
