-- add_unlike_moments: add_moments of sets that do not have the same variables: one by one, those that both have together.
create or replace function register.add_unlike_moments(
  p_one  register.moment[],
  p_two  register.moment[]
)
  returns register.moment[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, pg_temp
as $$
  select array_agg(case when m.one_id is null then m.two
                        when m.two_id is null then m.one
                        else (register.add_moments(array[m.one], array[m.two]))[1] end
                   order by coalesce(m.one_id, m.two_id))
    from (
      select a.stat_definition_id as one_id, a.moment as one, b.stat_definition_id as two_id, b.moment as two
        from (select x.stat_definition_id, x as moment from unnest(p_one) as x) as a
        full join (select y.stat_definition_id, y as moment from unnest(p_two) as y) as b
          on b.stat_definition_id = a.stat_definition_id
    ) as m;
$$;
