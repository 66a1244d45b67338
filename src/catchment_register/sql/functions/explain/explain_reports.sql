-- explain_reports: reports that lack something and that no open round is about: units were published that they do not
-- have, or today is in a month that they do not reach. See explain.
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
         format('Units were published that %s %s not have.', string_agg(b.report, ', ' order by b.report),
                case count(*) when 1 then 'does' else 'do' end),
         null
    from behind as b
   where b.lacks_units
  having count(*) > 0
  union all
  select 'new_period', true,
         jsonb_build_object('reports', jsonb_agg(b.report order by b.report), 'through', min(b.through), 'today',
                            min(b.day)),
         format('Today is %s, and %s %s to %s; the next collection brings the new period.', min(b.day),
                string_agg(b.report, ', ' order by b.report), case count(*) when 1 then 'goes' else 'go' end,
                min(b.through)),
         null
    from behind as b
   where b.lacks_time
     and not b.lacks_units
  having count(*) > 0;
$$;
