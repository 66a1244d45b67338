-- periods_to_refresh: the periods that a report of the round is staged for: from the first day of its cells to the end
-- of today's period, and at most a hundred years back; from changes, no further than the period after the last one they
-- touch, whose previous rows they are.
create or replace function register.periods_to_refresh(
  p_round_id  bigint,
  p_report    text
)
  returns setof register.period
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p.*
    from register.round as r
   cross join lateral (
     select greatest(min(c.valid_from), (r.today - interval '100 years')::date) as first_day,
            max(c.valid_until) as end_day
       from register.report_cell as c
      where c.round_id = r.id
        and c.report = p_report
        and c.partition_seq >= 0
   ) as c
   cross join lateral register.periods(c.first_day, r.today) as p
   where r.id = p_round_id
     and p.prev_first < c.end_day;
$$;
