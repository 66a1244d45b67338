-- derive_now: derive everything in this transaction, without tasks: the same functions in the same order. Scope units
-- stops at the published units and leaves the reports behind; all continues with the reports, which are rebuilt. For
-- checks and small registers. It includes the logged changes.
--
--   raises  CM018 an option has an invalid value; RG014 another round is open
create or replace function register.derive_now(p_scope text)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
  v_batch record;
begin
  if p_scope is null or p_scope not in ('units', 'all') then
    raise exception using
      errcode = 'CM018',
      message = format('derive_now cannot derive %s', coalesce(quote_literal(p_scope), 'null')),
      hint = 'Say units or all.';
  end if;
  v_round := register.take_changes(true);
  perform register.fill_units(v_round);
  for v_batch in select b.* from register.plan_batches(v_round.id) as b loop
    perform register.refresh_batch(v_round.id, v_batch.batch_seq, v_batch.enterprise_ids, v_batch.power_group_ids);
  end loop;
  perform register.publish_units(v_round.id);
  if p_scope = 'all' then
    perform register.report_now(v_round.id);
  else
    perform register.close_round(v_round.id);
  end if;
  return v_round.id;
end;
$$;
