-- gate_of: which limit a task comes under: its command and the values of the declared payload keys; null without a
-- limit.
create or replace function worker.gate_of(
  p_command  worker.command_registry,
  p_payload  jsonb
)
  returns text
  language sql immutable
return case
         when p_command.limit_key is null then null
         else p_command.command || '/' || md5(coalesce((select jsonb_agg(p_payload -> k order by k)
                                                          from unnest(p_command.limit_key) as k)::text, ''))
       end;
