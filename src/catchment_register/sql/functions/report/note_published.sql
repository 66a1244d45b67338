-- note_published: a report has everything of the round's flushes in it, up to the end of the round's month.
create or replace function register.note_published(
  p_round_id  bigint,
  p_report    text
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update register.report_state as s
     set applied_flush_id = r.flush_id, through = register.report_through(r.today)
    from register.round as r
   where r.id = p_round_id
     and s.report = p_report;
$$;
