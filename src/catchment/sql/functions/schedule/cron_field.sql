-- cron_field: the values of one field of a cron expression, in order. The field is a list of *, n or n-m, each with or
-- without /step; n/step runs to the end. A range may wrap around (fri-mon, 22-2). As a day of the week, 7 is Sunday
-- too.
--
--   raises  CM016 the schedule could never fire
create or replace function worker.cron_field(
  p_cron   text,
  p_field  text,
  p_what   text,
  p_low    integer,
  p_high   integer,
  p_names  text[] default '{}'
)
  returns integer[]
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  c_item   constant text := '^(?:(\*)|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:/([0-9]{1,3}))?$';
  -- What other crons have besides: the last day, a weekday nearby, the second Monday.
  c_extra  constant text := '^(l|lw|[0-9]{1,2}[lw]|[a-z]{3}l|([0-9]|[a-z]{3})#[0-9l])$';
  v_top    integer := case p_high when 6 then 7 else p_high end;
  v_item   text;
  v_parts  text[];
  v_from   integer;
  v_to     integer;
  v_step   integer;
  v_values integer[] := '{}';
begin
  foreach v_item in array string_to_array(p_field, ',') loop
    v_parts := regexp_match(v_item, c_item);
    v_step := coalesce(v_parts[4]::integer, 1);
    if v_parts[1] is not null then
      v_from := p_low;
      v_to := p_high;
    else
      v_from := case when v_parts[2] ~ '^[0-9]' then v_parts[2]::integer
                     else p_low - 1 + array_position(p_names, v_parts[2]) end;
      v_to := case
                when v_parts[3] ~ '^[0-9]'       then v_parts[3]::integer
                when v_parts[3] is not null   then p_low - 1 + array_position(p_names, v_parts[3])
                when v_parts[4] is not null   then greatest(p_high, v_from)
                else v_from
              end;
    end if;
    if coalesce(v_from not between p_low and v_top or v_to not between p_low and v_top or v_step = 0, true) then
      perform worker.refuse_schedule(
        format('cron expression %L: its %s is %L, expected %s to %s%s, in lists (1,3), ranges (1-3) or steps (*/3)',
               p_cron, p_what,
               v_item, p_low, p_high, case when p_names <> '{}'
                                             then format(' or %s to %s', p_names[1], p_names[cardinality(p_names)])
                                      else '' end),
        case when v_item ~ c_extra
               then 'L, # and W are not supported. The first Monday of a month is */32,1-7 * mon; for the last day, '
                    'fire on 28-31 and let the handler look at the date.'
             else 'Five fields: minute, hour, day of the month, month, day of the week, as in: 30 4 * * mon' end);
    end if;
    if v_from = 7 and v_to < 7 and p_high = 6 then
      v_from := 0;
    end if;
    if v_from > v_to then
      v_to := v_to + p_high - p_low + 1;
    end if;
    v_values := v_values || array(select p_low + (v - p_low) % (p_high - p_low + 1)
                                    from generate_series(v_from, v_to, v_step) as v);
  end loop;
  return array(select distinct v from unnest(v_values) as v order by v);
end;
$$;
