-- doctor_rules: violated rules of the engine. It looks at every task.
select 'error' as level, coalesce('task ' || i.task_id, 'engine') as subject, i.rule || ': ' || i.problem as finding,
       '# This is a defect of the engine: please report it with the output of "catchment task show".' as remedy
  from worker.check_invariants() as i
