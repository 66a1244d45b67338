-- name_query: a search text as a query on name_words: all words, of which the last may be incomplete. It is split as
-- names are, so that every name finds itself.
create or replace function register.name_query(p_text text)
  returns tsquery
  language sql immutable parallel safe
as $$
  select case t.words
           when '' then ''::tsquery
           else to_tsquery('pg_catalog.simple'::regconfig, '''' || replace(t.words, ' ', ''' & ''') || ''':*')
         end
    from (select btrim(regexp_replace(translate(p_text, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)),
                                      '[ \t\n\r\f\v]+', ' ', 'g'))) as t (words);
$$;
