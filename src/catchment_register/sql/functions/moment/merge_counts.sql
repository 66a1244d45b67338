-- merge_counts: counts of values, plus what came, minus what went; null is nothing. Mostly nothing came or went.
-- Inlined, therefore without a SET clause.
create or replace function register.merge_counts(
  p_old      jsonb,
  p_added    jsonb,
  p_removed  jsonb
)
  returns jsonb
  language sql immutable
as $$
  select case when p_added is not distinct from p_removed then p_old
              else register.sum_counts(p_old, p_added, p_removed) end;
$$;
