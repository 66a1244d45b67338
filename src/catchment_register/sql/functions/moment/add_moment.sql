-- add_moment: two moments of one variable as one. An extreme that both have is held by the rows of both. Inlined, so
-- that fields are taken where they lie: therefore without a SET clause.
create or replace function register.add_moment(
  p_one  register.moment,
  p_two  register.moment
)
  returns register.moment
  language sql immutable parallel safe
as $$
  select row(p_one.stat_definition_id, p_one.n + p_two.n, p_one.total + p_two.total, p_one.squares + p_two.squares,
             least(p_one.min, p_two.min),
             case when p_one.min < p_two.min then p_one.min_count
                  when p_two.min < p_one.min then p_two.min_count
                  when p_one.min_count = 0 or p_two.min_count = 0 then 0
                  else coalesce(p_one.min_count, 1) + coalesce(p_two.min_count, 1) end,
             greatest(p_one.max, p_two.max),
             case when p_one.max > p_two.max then p_one.max_count
                  when p_two.max > p_one.max then p_two.max_count
                  when p_one.max_count = 0 or p_two.max_count = 0 then 0
                  else coalesce(p_one.max_count, 1) + coalesce(p_two.max_count, 1) end)::register.moment;
$$;
