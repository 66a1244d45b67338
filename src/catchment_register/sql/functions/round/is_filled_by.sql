-- is_filled_by: whether a round fills a published table for the first time, so that its children write to it directly.
create or replace function register.is_filled_by(
  p_round_id  bigint,
  p_report    text
)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from register.first_fill as f where f.report = p_report and f.round_id = p_round_id);
$$;
