-- begin_fill: let the children of a round fill a published table that is empty. They write to it directly, where others
-- stage rows for one session to copy. From here until end_fill it has no key and no indexes, and readers get none of
-- its rows; end_fill shows them all at once. A round that breaks empties it again. Vacuum would read it in vain, and
-- keep indexes waiting. A table that is being read keeps its indexes: rows are staged, as in any other round.
--
--   locks   access exclusive on the table, until commit, if nobody reads it
create or replace function register.begin_fill(
  p_round_id  bigint,
  p_report    text
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text := format('register.%I_row', p_report);
  v_index text;
begin
  if not register.take_alone(v_table) then
    return;
  end if;
  insert into register.first_fill (report, round_id) values (p_report, p_round_id);
  execute format('alter table %s set (autovacuum_enabled = false)', v_table);
  foreach v_index in array register.fill_indexes(p_report) loop
    execute format('drop index if exists register.%I', v_index);
  end loop;
end;
$$;
