-- timesegments_years: the years that there is a history of.
create or replace view register.timesegments_years as
select distinct h.year from register.statistical_history_row as h where h.resolution = 'year';
comment on view register.timesegments_years is 'Years that there is a history of.';
