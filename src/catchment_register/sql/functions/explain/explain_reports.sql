-- explain_reports: reports that are incomplete while no round is open: they lack published units, or end before the
-- current month. See explain.
create or replace function register.explain_reports(
  p_of   register.subject,
  p_now  timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with behind as (
    select s.report, s.through, t.day,
           s.applied_flush_id is null
           or exists (select from register.statistical_unit_change as c where c.flush_id > s.applied_flush_id)
             as lacks_units,
           s.through < register.report_through(t.day) as lacks_time
      from register.report_state as s
     cross join (select register.today() as day) as t
     where (p_of.kind = 'register' or p_of.kind = 'report' and p_of.name = s.report)
       and register.reports_are_behind()
       and not exists (select from register.round as r where r.state = 'open')
  )
  select 'reports_behind', true, jsonb_build_object('reports', jsonb_agg(b.report order by b.report)),
         format('Published units are missing in %s.', string_agg(b.report, ', ' order by b.report)),
         null
    from behind as b
   where b.lacks_units
  having count(*) > 0
  union all
  select 'new_period', true,
         jsonb_build_object('reports', jsonb_agg(b.report order by b.report), 'through', min(b.through), 'today',
                            min(b.day)),
         format('Today is %s, and %s %s on %s; the next collection adds the new period.', min(b.day),
                string_agg(b.report, ', ' order by b.report), case count(*) when 1 then 'ends' else 'end' end,
                min(b.through)),
         null
    from behind as b
   where b.lacks_time
     and not b.lacks_units
  having count(*) > 0;
$$;
