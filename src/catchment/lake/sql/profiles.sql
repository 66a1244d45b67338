-- profiles: planner settings of functions, applied in the transaction that creates them. A header names its profiles
-- under "plan"; a function that is not listed plans with the settings of its caller. Reasons are in docs/design:
-- 0006-plan-settings-in-the-functions, 0036-planner-settings-by-profile.
do $profiles$
declare
  v_settings  text;
  v_functions text;
  v_function  text;
begin
  for v_settings, v_functions in
    select p.settings, p.functions
      from (values
        -- Table by table from one index to the next; plans from estimates without statistics are quadratic.
        ('walk',
         'set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off '
         'set enable_mergejoin = off set enable_material = off',
         'changed_sources fates follow_expiry')
      ) as p (profile, settings, functions)
  loop
    foreach v_function in array string_to_array(v_functions, ' ') loop
      execute format('alter routine lake.%I %s', v_function, v_settings);
    end loop;
  end loop;
end;
$profiles$;
