-- guard: trigger on the catalog's list of commits. A commit of ours carries a note with ids, and moves our own tables
-- in the same transaction: {"catchment": {"refresh": 17, "fence": 123}} publishes, {"create": 5, "generation": 2} puts
-- a definition into force, {"drop": 5} removes a table, {"rename": 5} gives it its new name. A writer that is not the
-- newest is refused, and nothing of its commit happens. Commits without such a note pass.
--
--   raises  CM015 the commit to the lake is refused
--   locks   the refresh row, then the frontier row, then the table's
create or replace function lake.guard()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_note jsonb;
begin
  begin
    v_note := new.commit_extra_info::jsonb -> 'catchment';
  exception
    when invalid_text_representation or untranslatable_character then
      return new;
  end;
  if v_note ? 'refresh' then
    perform lake.publish((v_note ->> 'refresh')::bigint, (v_note ->> 'fence')::bigint, new.snapshot_id);
  elsif v_note ? 'create' then
    perform lake.activate_table((v_note ->> 'create')::bigint, (v_note ->> 'generation')::integer);
  elsif v_note ? 'drop' then
    perform lake.remove_table((v_note ->> 'drop')::bigint);
  elsif v_note ? 'rename' then
    perform lake.put_name((v_note ->> 'rename')::bigint);
  end if;
  return new;
end;
$$;
