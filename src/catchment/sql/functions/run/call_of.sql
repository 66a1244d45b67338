-- call_of: the CALL for a signature that procedure_signatures returned.
create or replace function worker.call_of(p_signature text)
  returns text
  language sql immutable
return 'call '
       || case
            when pg_catalog.right(p_signature, 36) = '(pg_catalog.jsonb, pg_catalog.jsonb)'
              then pg_catalog.left(p_signature, -36) || '($1, $2)'
            else pg_catalog.left(p_signature, -18) || '($1)'
          end;
