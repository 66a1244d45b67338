-- shell_word: a text as one word of a command line.
create or replace function worker.shell_word(p_text text)
  returns text
  language sql immutable
return case
         when p_text ~ '^[A-Za-z0-9_./:@%+=-]+$' then p_text
         else '''' || replace(p_text, '''', '''\''''') || ''''
       end;
