-- give_back: close a round that cannot continue, and leave its changes to the next one. Published data stay, and so do
-- differences that reports have not applied: the next round's reports include them. A table that it was filling for the
-- first time is empty again.
--
--   open -> broken
--   writes  register.collect_request
create or replace function register.give_back(p_round_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round register.round;
begin
  update register.round as r
     set state = 'broken', ended_at = clock_timestamp(),
         failures = 1 + coalesce((select p.failures from register.round as p where p.id < r.id order by p.id desc
                                   limit 1), 0)
   where r.id = p_round_id
     and r.state = 'open'
  returning r.* into v_round;
  if not found then
    return;
  end if;
  update register.base_change_log as b set round_id = null where b.round_id = p_round_id;
  if v_round.kind = 'direct' then
    -- Asked for by name and not done: from now on a change like any other. recover_rounds says when it is collected.
    insert into register.collect_request default values on conflict do nothing;
    insert into register.base_change_log (establishment_ids, legal_unit_ids, enterprise_ids, power_group_ids)
    values (v_round.establishment_ids, v_round.legal_unit_ids, v_round.enterprise_ids, v_round.power_group_ids);
  end if;
  perform register.clear_staging(p_round_id);
  perform register.drop_fill(p_round_id);
  perform worker.notify('register_round', jsonb_build_object('round_id', p_round_id, 'state', 'broken')::text);
end;
$$;
