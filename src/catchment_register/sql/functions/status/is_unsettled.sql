-- is_unsettled: whether a task in this state is still to come to an end. Every state is named: a new one must be
-- decided on. Inlined, therefore without a SET clause.
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
