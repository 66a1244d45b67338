-- is_unsettled: whether a task in this state is unsettled. Every state is named, so that a new one needs a decision.
-- Inlined, therefore without a SET clause.
create or replace function register.is_unsettled(p_state text)
  returns boolean
  language sql immutable
as $$
  select case p_state
           when 'pending'     then true
           when 'processing'  then true
           when 'waiting'     then true
           when 'interrupted' then true
           when 'completed'   then false
           when 'failed'      then false
           when 'cancelled'   then false
         end;
$$;
