-- Status and reports for readers; the worker notifies them of progress.
grant execute
   on function register.is_deriving_statistical_units(), register.is_deriving_reports(), register.pipeline_progress(),
      register.last_failure(), register.explain(text),
      register.check_register(boolean),
      register.unit_facet_drilldown(text, date, text, text, text, integer, integer, integer),
      -- Called by the views, with the rights of their reader.
      register.stats_summary(register.moment[], jsonb), register.name_words(text), register.name_query(text),
      register.is_shown(text), register.find_unit(text)
   to register_read;
