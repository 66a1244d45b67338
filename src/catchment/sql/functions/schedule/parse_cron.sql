-- parse_cron: parse a cron expression: five fields, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly,
-- @annually. As in Debian's cron: a day must match both fields of days if one of them begins with *, and one of the two
-- otherwise; an expression is of fixed times if neither minute nor hour begins with *, see next_on_date.
--
--   raises  CM016 the schedule could never fire
create or replace function worker.parse_cron(p_cron text)
  returns worker.cron
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  c_longest constant integer := 500;
  v_text    text := regexp_replace(lower(p_cron), '^\s+|\s+$', '', 'g');
  v_fields  text[];
  v_cron    worker.cron;
begin
  if length(p_cron) > c_longest then
    perform worker.refuse_schedule(
      format('cron expression %L has %s characters, expected at most %s', left(p_cron, 40) || '…', length(p_cron),
             c_longest),
      'Write ranges and steps instead of long lists: 1-30/2 for 1,3,5 and so on.');
  end if;
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
  v_cron.any_day := v_fields[3] ~ '^[*?]';
  v_cron.any_weekday := v_fields[5] ~ '^[*?]';
  v_cron.is_fixed := v_fields[1] !~ '^\*' and v_fields[2] !~ '^\*';
  v_cron.minutes := worker.cron_field(p_cron, v_fields[1], 'minute', 0, 59);
  v_cron.hours := worker.cron_field(p_cron, v_fields[2], 'hour', 0, 23);
  v_cron.days := worker.cron_field(p_cron, case v_fields[3] when '?' then '*' else v_fields[3] end,
                                   'day of the month', 1, 31);
  v_cron.months := worker.cron_field(p_cron, v_fields[4], 'month', 1, 12,
                                     '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}');
  v_cron.weekdays := worker.cron_field(p_cron, case v_fields[5] when '?' then '*' else v_fields[5] end,
                                       'day of the week', 0, 6, '{sun,mon,tue,wed,thu,fri,sat}');
  if (v_cron.any_day or v_cron.any_weekday)
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
