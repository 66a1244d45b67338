-- Running phases, open import jobs and waiting changes.
select register.is_importing() as is_importing,
       register.is_deriving_statistical_units() as is_deriving_statistical_units,
       register.is_deriving_reports() as is_deriving_reports,
       (select count(*) from register.base_change_log as b where b.round_id is null) as changes_waiting,
       register.today() as today;
