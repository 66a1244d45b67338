-- profiles: planner settings of functions, applied in the transaction that creates them. A header names its profiles
-- under "plan"; a function that is not listed plans with the settings of its caller. Reasons are in docs/design:
-- 0006-plan-settings-in-the-functions, 0034-tables-of-a-round-are-not-analysed, 0036-planner-settings-by-profile.
do $profiles$
declare
  v_settings  text;
  v_functions text;
  v_function  text;
begin
  for v_settings, v_functions in
    select p.settings, p.functions
      from (values
        -- To compile a statement of a batch takes longer than to run it; costs of switched-off plans would start it.
        ('no_jit',
         'set jit = off',
         'amend_history amend_unit_facet analyse_relationships analyse_units assign_power_groups check_base '
         'check_derivation check_power_groups check_reports check_units choose_power_roots choose_primary '
         'close_moments closed_groups collect_changes collect_facet_cells collect_history_cells count_used '
         'delete_empty_groups derive_reports derive_statistical_history derive_statistical_history_facet '
         'derive_statistical_history_facet_period derive_statistical_history_period derive_statistical_unit '
         'derive_statistical_unit_continue derive_statistical_unit_facet derive_statistical_unit_facet_partition '
         'drop_doubles effective_units enterprise_rows find_all_bridges find_differences finish_statistical_history '
         'finish_statistical_history_facet finish_statistical_unit_flush_staging follow_bridges guard_children '
         'guard_codes guard_ident guard_overlap guard_owner guard_parent guard_primary guard_region guard_root '
         'guard_statistic import_job_cleanup import_job_process import_settled import_started legal_unit_rows '
         'legal_units_of lift link_relationships link_units load_batch load_groups log_missed '
         'look_up_history_extremes look_up_unit_facet_extremes merge_history merge_moments merge_parts '
         'name_components note_differences note_orphans own_rows parts_of_parts plan_batches power_group_rows '
         'promote_establishments publish_first publish_units reach_relationships recount_used refuse_delete_in_use '
         'replace_history replace_unit_facet replace_units round_settled round_started segment_own stage_batch '
         'stage_history stage_history_facet statistical_unit_build_index statistical_unit_facet_reduce '
         'statistical_unit_flush_staging statistical_unit_refresh_batch sum_moments sum_unit_facets temporal_merge '
         'unit_facet_drilldown want_units warn_overlaps'),
        -- Planned once in a session: the plan does not depend on the values.
        ('generic',
         'set plan_cache_mode = force_generic_plan',
         'enterprise_rows legal_unit_rows legal_units_of lift load_batch load_groups merge_parts own_rows '
         'parts_of_parts segment_own stage_batch'),
        -- By index, however small the planner takes the table for.
        ('indexed',
         'set enable_seqscan = off',
         'add_activities amend_history amend_unit_facet analyse_relationships analyse_units choose_primary '
         'demote_establishments effective_units ensure_activities find_subject follow_bridges guard_children '
         'guard_overlap guard_owner guard_parent guard_primary guard_root import_process_batch legal_units_of '
         'link_relationships link_units load_batch load_groups merge_history note_orphans unit_homes unit_idents'),
        -- Rows of a file are read in its order, by their index.
        ('in_order',
         'set enable_bitmapscan = off',
         'link_units'),
        -- Few rows meet many: each is sought by its key.
        ('probed',
         'set enable_hashjoin = off set enable_mergejoin = off',
         'amend_history amend_unit_facet merge_history'),
        -- Large sets meet by hashing: estimates of scratch tables and of tables of a round are too low.
        ('hashed',
         'set enable_nestloop = off set enable_mergejoin = off',
         'analyse_relationships analyse_units choose_primary demote_establishments enterprise_rows guard_children '
         'guard_overlap guard_owner guard_parent guard_primary legal_unit_rows lift link_relationships link_units '
         'merge_parts own_rows parts_of_parts process_idents replace_history replace_unit_facet segment_own '
         'stage_batch temporal_merge'),
        -- As hashed, where a merge of sorted rows may be better.
        ('unlooped',
         'set enable_nestloop = off',
         'find_differences look_up_history_extremes power_group_rows warn_overlaps'),
        -- Sorting both sides only to join them takes longest.
        ('unmerged',
         'set enable_mergejoin = off',
         'stage_history stage_history_facet sum_moments'),
        -- Groups are many: sorting all rows takes longer than hashing them.
        ('unsorted',
         'set enable_sort = off',
         'collect_facet_cells collect_history_cells link_units stage_history_facet sum_unit_facets'),
        -- Joined as written: to find an order takes longer than to join.
        ('as_written',
         'set join_collapse_limit = 1',
         'analyse_units own_rows'),
        -- Callers that are probed switch it off.
        ('hash_again',
         'set enable_hashjoin = on',
         'close_moments fill_extremes look_up_history_extremes look_up_unit_facet_extremes'),
        -- Callers that read tables of a round switch it off.
        ('loop_again',
         'set enable_nestloop = on',
         'collect_facet_cells want_units'),
        -- Sorts and hash tables of one batch.
        ('memory_64',
         'set work_mem = ''64MB''',
         'analyse_relationships analyse_units temporal_merge'),
        -- Sorts and hash tables of a large batch, or of a check.
        ('memory_128',
         'set work_mem = ''128MB''',
         'check_base check_derivation check_power_groups check_reports check_units choose_primary close_moments '
         'collect_facet_cells collect_history_cells enterprise_rows find_all_bridges legal_unit_rows '
         'link_relationships look_up_history_extremes merge_moments merge_parts own_rows recount_used replace_history '
         'replace_unit_facet stage_batch stage_history stage_history_facet sum_moments'),
        -- Sorts and hash tables of a whole round.
        ('memory_256',
         'set work_mem = ''256MB''',
         'drop_doubles find_differences link_units log_missed publish_units sum_unit_facets'),
        -- Indexes of the facets of units.
        ('build_256',
         'set maintenance_work_mem = ''256MB''',
         'fill_unit_facet'),
        -- Indexes of a large table that was empty.
        ('build_512',
         'set maintenance_work_mem = ''512MB''',
         'build_index'),
        -- Looks at 3,000 pages: how many rows a job has is all that is asked.
        ('small_sample',
         'set default_statistics_target = 10',
         'import_prepare')
      ) as p (profile, settings, functions)
  loop
    foreach v_function in array string_to_array(v_functions, ' ') loop
      execute format('alter routine register.%I %s', v_function, v_settings);
    end loop;
  end loop;
end;
$profiles$;
