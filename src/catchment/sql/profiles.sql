-- profiles: planner settings of functions, applied in the transaction that creates them. A header names its profiles
-- under "plan"; a function that is not listed plans with the settings of its caller. Reasons are in docs/design:
-- 0006-plan-settings-in-the-functions, 0009-joins-that-no-estimate-turns-round, 0036-planner-settings-by-profile.
do $profiles$
declare
  v_settings  text;
  v_functions text;
  v_function  text;
begin
  for v_settings, v_functions in
    select p.settings, p.functions
      from (values
        -- Every statement walks an index, whatever the size of its tables.
        ('walk',
         'set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off '
         'set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off',
         'admit_arrivals begin_session cancel change_pending complete_parent_if_ready count_late enqueue_many '
         'insert_follow_up insert_task interrupt_abandoned lock_trees promote_due retry settle settle_unstarted '
         'skip_halted spawn_child sweep_cancelled take_after_call unregister_worker'),
        -- The same, where a batch is sorted: rows of an array have no index.
        ('walk_sorted',
         'set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off '
         'set enable_hashjoin = off set enable_mergejoin = off',
         'bulk_page claim claim_tasks complete_and_go_on complete_tasks ended_tasks enqueue_each filter_tasks '
         'find_children find_scopes find_tasks insert_children list_lanes open_tasks recent_ends retry_failed '
         'scope_figures scope_groups'),
        -- A few rows by index, and small registries joined in any way.
        ('probe',
         'set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off',
         'begin_tasks called_upon desired_capacity enqueue gate_figures lane_figures next_let_in open_gates pulse '
         'queue_figures task_tree'),
        -- A question about one task: rows by index, and small registries; nothing else is large enough to hash.
        ('explain',
         'set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off '
         'set enable_hashjoin = off set enable_mergejoin = off set enable_hashagg = off',
         'explain retry_id root_cause surroundings_of'),
        -- Arrays meet what a statement returned: record 0009.
        ('hash',
         'set jit = off set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off '
         'set enable_hashjoin = on set enable_mergejoin = off set enable_nestloop = off',
         'finish_plain'),
        -- Rows by their position alone: record 0009.
        ('position',
         'set jit = off set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off '
         'set enable_bitmapscan = off',
         'write_lanes'),
        -- Rare statements on tables that grow and shrink.
        ('indexed',
         'set enable_seqscan = off',
         'count_late_children expire_deadlines hanging_backends lock_signalled upkeep_is_due'),
        -- Reads everything; compiling it takes longer.
        ('scan',
         'set jit = off',
         'check_invariants')
      ) as p (profile, settings, functions)
  loop
    foreach v_function in array string_to_array(v_functions, ' ') loop
      execute format('alter routine worker.%I %s', v_function, v_settings);
    end loop;
  end loop;
end;
$profiles$;
