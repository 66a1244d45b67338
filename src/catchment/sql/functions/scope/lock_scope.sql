-- lock_scope: lock a scope row for a change of its counters and return where its newest version is. A long-open
-- snapshot keeps every old version of a counter, and finding the newest through the index passes all of them; so the
-- session remembers where it was last (set by change_scopes for large scopes) and follows the updates from there.
--
--   locks   the scope row
--   returns null when there is no such row
--   session reads worker.scope_at
create or replace function worker.lock_scope(p_scope_id bigint)
  returns tid
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_looks constant integer := 5;
  v_hint  text[] := string_to_array(current_setting('worker.scope_at', true), '/');
  v_row   tid;
  v_place tid;
begin
  if v_hint[1] = p_scope_id::text then
    begin
      v_row := v_hint[2]::tid;
      for look in 1 .. c_looks loop
        v_row := currtid2('worker.scope', v_row);
        select s.ctid into v_place from worker.scope as s where s.ctid = v_row and s.id = p_scope_id for no key update;
        if found then
          return v_place;
        end if;
      end loop;
    exception
      when invalid_parameter_value or invalid_text_representation or internal_error then
        null; -- that location is gone, or invalid
    end;
  end if;
  select s.ctid into v_place from worker.scope as s where s.id = p_scope_id for no key update;
  return v_place;
end;
$$;
