-- name_words: the words of a name for searching, in lower case. A sign ends a word: PostgreSQL alone would make files,
-- hosts and tags of A/S, Bil.no and <x>. Parallel safe, so that its index is built by several processes.
create or replace function register.name_words(p_name text)
  returns tsvector
  language sql immutable parallel safe
as $$
  select pg_catalog.to_tsvector('pg_catalog.simple'::pg_catalog.regconfig,
                                pg_catalog.translate(p_name, '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~',
                                                     pg_catalog.repeat(' ', 32)));
$$;
