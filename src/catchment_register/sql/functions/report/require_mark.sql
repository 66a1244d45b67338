-- require_mark: require that what the round has staged for its reports still exists.
--
--   raises  RG010 staged rows were lost in a crash
create or replace function register.require_mark(p_round_id bigint)
  returns void
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from register.staging_mark as m where m.round_id = p_round_id) then
    raise exception using
      errcode = 'RG010',
      message = format('what round %s had staged for its reports was lost in a crash of the server', p_round_id),
      hint = 'Nothing to do: its changes are given back and taken up by the next round.';
  end if;
end;
$$;
