-- guard: trigger on the catalog's list of commits. A commit of ours carries a note with ids, and moves our own tables
-- in the same transaction: {"catchment": {"refresh": 17, "fence": 123}} publishes, {"create": 5, "generation": 2} puts
-- a definition into force, {"drop": 5} removes a table, {"rename": 5} gives it its new name. A writer that is not the
-- newest is refused, and nothing of its commit happens. Commits without such a note pass.
--
-- A session that has come this far holds up all other commits until its COMMIT, which DuckLake sends at once. If none
-- comes, because the process is stopped or its link hangs, the server ends the session.
--
--   raises  CM015 the commit to the lake is refused
--   session sets idle_in_transaction_session_timeout
--   locks   the refresh row, then the frontier row, then the table's
create or replace function lake.guard()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_note jsonb;
begin
  perform set_config('idle_in_transaction_session_timeout', '10s', true);
  if new.commit_extra_info is null or new.commit_extra_info not like '%"catchment"%' then
    return new;
  end if;
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
