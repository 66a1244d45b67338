-- may_commit: is the current statement a CALL or DO of its own, outside any transaction block? Only then may a procedure commit.
-- A transaction block that was opened by an earlier statement began before this statement; one opened in the same message shows
-- in its text. In doubt the answer is no, which is always safe.
create or replace function worker.may_commit()
  returns boolean
  language sql
  volatile
return pg_catalog.transaction_timestamp() = pg_catalog.statement_timestamp()
       and pg_catalog.regexp_replace(pg_catalog.current_query(), '(/\*.*?\*/|--[^\n]*(\n|$)|\s)+', ' ', 'g')
           ~* '^ ?(call [^;]*|do .*);? ?$';
