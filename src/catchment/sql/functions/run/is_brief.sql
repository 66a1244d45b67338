-- is_brief: whether the last handlers of a command in this session were so short that they may share a transaction.
create or replace function worker.is_brief(
  p_pace     jsonb,
  p_command  text
)
  returns boolean
  language sql immutable
return coalesce((p_pace -> p_command ->> 0)::integer = 0, false);
