-- parse_cron: parse a cron expression: five fields, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly,
-- @annually. If both day of the month and day of the week are restricted, a day that matches either one counts, as in
-- cron.
--
--   raises  CM016 the schedule could never fire
create or replace function worker.parse_cron(p_cron text)
  returns worker.cron
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text   text := regexp_replace(lower(p_cron), '^\s+|\s+$', '', 'g');
  v_fields text[];
  v_cron   worker.cron;
begin
  v_text := case v_text
              when '@hourly'   then '0 * * * *'
              when '@daily'    then '0 0 * * *'
              when '@midnight' then '0 0 * * *'
              when '@weekly'   then '0 0 * * 0'
              when '@monthly'  then '0 0 1 * *'
              when '@yearly'   then '0 0 1 1 *'
              when '@annually' then '0 0 1 1 *'
              else v_text
            end;
  v_fields := regexp_split_to_array(v_text, '\s+');
  if v_text is null or cardinality(v_fields) <> 5 then
    perform worker.refuse_schedule(
      format('cron expression %L has %s fields, expected five', p_cron,
             case v_text when '' then 0 else cardinality(v_fields) end),
      'Minute, hour, day of the month, month, day of the week, as in: 30 4 * * mon. Or one of @hourly, @daily, '
      '@weekly, @monthly, @yearly.');
  end if;
  v_cron.any_day := v_fields[3] in ('*', '?');
  v_cron.any_weekday := v_fields[5] in ('*', '?');
  v_cron.minutes := worker.cron_field(p_cron, v_fields[1], 'minute', 0, 59);
  v_cron.hours := worker.cron_field(p_cron, v_fields[2], 'hour', 0, 23);
  v_cron.days := worker.cron_field(p_cron, case when v_cron.any_day then '*' else v_fields[3] end, 'day of the month',
                                   1, 31);
  v_cron.months := worker.cron_field(p_cron, v_fields[4], 'month', 1, 12,
                                     '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}');
  v_cron.weekdays := worker.cron_field(p_cron, case when v_cron.any_weekday then '*' else v_fields[5] end,
                                       'day of the week', 0, 6, '{sun,mon,tue,wed,thu,fri,sat}');
  if v_cron.any_weekday
     and v_cron.days[1] > (select max(case m when 2 then 29 when 4 then 30 when 6 then 30 when 9 then 30
                                           when 11 then 30 else 31 end)
                             from unnest(v_cron.months) as m) then
    perform worker.refuse_schedule(
      format('cron expression %L never fires: no month %s has a day %s', p_cron, v_fields[4], v_cron.days[1]),
      'Choose a day that the month has, or other months.');
  end if;
  return v_cron;
end;
$$;
