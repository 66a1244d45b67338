-- starts_reports: whether a report stage was requested manually, without a round: then the first stage is requested
-- instead.
create or replace function register.starts_reports(p_payload jsonb)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_payload ->> 'round_id' is not null then
    return false;
  end if;
  perform worker.follow_up('derive_reports');
  return true;
end;
$$;
