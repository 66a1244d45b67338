-- check_rounds: rules of rounds, their tasks and their staged rows.
create or replace function register.check_rounds()
  returns table (rule text, detail text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'logged changes belong to an open round or to none', format('log row %s of round %s', b.id, b.round_id)
    from register.base_change_log as b
   where b.round_id is not null
     and not exists (select from register.round as r where r.id = b.round_id and r.state = 'open')
  union all
  select 'an open round has a task that continues with it', format('round %s', r.id)
    from register.round as r
   where r.state = 'open'
     and not exists (select from worker.tasks as t
                      where t.state in ('pending', 'processing', 'waiting', 'interrupted')
                        and (t.payload ->> 'round_id')::bigint = r.id)
  union all
  select 'nothing is staged for a round that is over', format('%s of round %s', s.what, s.round_id)
    from (select distinct 'units' as what, u.round_id from register.statistical_unit_staging as u
          union all
          select distinct 'cells', c.round_id from register.report_cell as c
          union all
          select distinct 'history', h.round_id from register.statistical_history_staging as h) as s
   where not exists (select from register.round as r where r.id = s.round_id and r.state = 'open')
  union all
  select 'no table is filled for a round that is over', format('%s by round %s', f.report, f.round_id)
    from register.first_fill as f
   where not exists (select from register.round as r where r.id = f.round_id and r.state = 'open')
  union all
  select 'changes of units are kept until every report has them',
         format('%s lacks flush %s', s.report, (select max(c.flush_id) from register.statistical_unit_change as c))
    from register.report_state as s
   where not exists (select from register.round as r where r.state = 'open')
     and not exists (select from register.base_change_log)
     and exists (select from register.statistical_unit_change as c where c.flush_id > s.applied_flush_id)
  union all
  select 'no report waits to be rebuilt while nothing is under way', s.report
    from register.report_state as s
   where s.applied_flush_id is null
     and not exists (select from register.round as r where r.state = 'open')
     and not exists (select from register.base_change_log)
     and exists (select from register.statistical_unit_row);
$$;
