-- begin_fill: let the children of a round fill a published table that is empty. They write to it directly, where others
-- stage rows for one session to copy. From here until end_fill it has no key and no indexes, and readers get none of
-- its rows; end_fill shows them all at once. A round that breaks empties it again. Vacuum would read it in vain, and
-- keep indexes waiting.
--
--   locks   access exclusive on the table, until commit
create or replace function register.begin_fill(
  p_round_id  bigint,
  p_report    text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into register.first_fill (report, round_id) values (p_report, p_round_id);
  if p_report = 'statistical_unit' then
    alter table register.statistical_unit_row set (autovacuum_enabled = false);
    alter table register.statistical_unit_row drop constraint statistical_unit_row_pkey;
    drop index if exists register.statistical_unit_words, register.statistical_unit_facet_dims;
  else
    alter table register.statistical_history_facet_row set (autovacuum_enabled = false);
    drop index if exists register.statistical_history_facet_key, register.statistical_history_facet_year,
                         register.statistical_history_facet_month;
  end if;
end;
$$;
