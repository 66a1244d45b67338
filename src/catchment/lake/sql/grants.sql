-- Least privilege, as in schema worker: functions run as the owner and check their arguments. Members of catchment_read
-- may read, members of catchment_worker may run refreshes and change dynamic tables.
revoke all on schema lake from public;
grant usage on schema lake to catchment_worker, catchment_read;
revoke all on all tables in schema lake from public, catchment_worker, catchment_read;
revoke all on all functions in schema lake from public, catchment_worker, catchment_read;
revoke all on all procedures in schema lake from public, catchment_worker, catchment_read;

grant select on all tables in schema lake to catchment_worker, catchment_read;
grant execute on function lake.commit_key(), lake.load_key(text), lake.version_at(bigint, bigint),
                          lake.cost_samples(bigint),
  lake.order_of(bigint), lake.content_of(bigint), lake.table_directory(bigint), lake.lost_names(),
                          lake.refreshes_since_audit(bigint),
                          lake.free_slots(boolean), lake.count_workers(), lake.lock_holders(), lake.pinned_snapshot(),
                          lake.lag_stats(bigint, timestamptz), lake.ms_between(timestamptz, timestamptz),
                          lake.scan_changes(), lake.explain(bigint),
                          lake.explain_table(bigint, interval, double precision, timestamptz)
   to catchment_read, catchment_worker;
grant execute on function
  lake.request_round(bigint[], text), lake.advance(bigint),
  lake.begin_refresh(bigint, bigint, interval, boolean), lake.store_plan(bigint, bigint, jsonb, bigint),
  lake.prepare_publish(bigint, bigint, jsonb), lake.move_frontier(bigint, bigint),
  lake.finish_refresh(bigint, bigint, jsonb), lake.fail_refresh(bigint, bigint, text, text),
  lake.repeat_refresh(bigint, bigint, integer), lake.move_round(bigint, bigint, bigint[], text, integer),
  lake.share_reading(bigint, bigint, bigint),
  lake.add_sample(bigint, text, double precision, double precision),
  lake.schedule_deletion(text[]), lake.note_artifacts(bigint, bigint, bigint, text, text[]),
  lake.forget_artifacts(text[], bigint[]), lake.sweepable(bigint, interval), lake.unknown_files(text, text[]),
  lake.note_directory(bigint), lake.crowded(bigint),
  lake.add_audit(bigint, bigint, bigint, bigint, double precision), lake.create_table(jsonb), lake.drop_table(bigint),
  lake.remove_table(bigint), lake.abandoned(), lake.suspend(bigint, text), lake.resume(bigint),
  lake.alter_table(bigint, jsonb),
  lake.rename_table(bigint, text, text), lake.cancel_refreshes(bigint, text), lake.set_components(),
  lake.set_tick(), lake.tick()
   to catchment_worker;
grant execute on procedure lake.run_tick(jsonb, jsonb) to catchment_worker;
