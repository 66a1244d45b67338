-- shell_word: a text as one word of a command line, as shlex.quote of Python writes it. One with signs that a terminal
-- obeys or hides is written as $'…', with the octal digits of their bytes: what bash, zsh, ksh and busybox all read.
create or replace function worker.shell_word(p_text text)
  returns text
  language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_text ~ '^[A-Za-z0-9_@%+=:,./-]+$' then p_text
           when p_text !~ h.hidden then '''' || replace(p_text, '''', '''"''"''') || ''''
           else '$''' || (select string_agg(case when s.sign ~ h.hidden or s.sign in ('''', '\') then o.octal
                                                 else s.sign end, '' order by s.n)
                            from regexp_split_to_table(p_text, '') with ordinality as s (sign, n)
                           cross join lateral (
                             select string_agg(format('\%s%s%s', b.byte / 64, b.byte / 8 % 8, b.byte % 8), ''
                                               order by b.n) as octal
                               from (select i.n, get_byte(convert_to(s.sign, 'UTF8'), i.n) as byte
                                       from generate_series(0, length(convert_to(s.sign, 'UTF8')) - 1) as i (n)) as b
                           ) as o)
                || ''''
         end
    from (select '[\u0001-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000'
                 '\ue000-\uf8ff\ufeff\ufff9-\ufffb]' as hidden) as h;
$$;
