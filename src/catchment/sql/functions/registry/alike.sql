-- alike: the name closest to a mistyped one; null if none is close. Letters that are wrong, missing or too many are
-- counted, and swapped pairs: a third of all at most. Compares with the 200 names of nearest length.
create or replace function worker.alike(
  p_name   text,
  p_names  text[]
)
  returns text
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_most  integer := greatest(1, length(p_name) / 3);
  v_best  text;
  v_name  text;
  -- changes between the first letters of both names: the row that is made, the last one, and the one above
  v_above integer[];
  v_last  integer[];
  v_row   integer[];
begin
  if length(p_name) not between 2 and 100 then
    return null;
  end if;
  for v_name in
    select n.name
      from unnest(p_names) as n (name)
     where abs(length(n.name) - length(p_name)) <= v_most
     order by abs(length(n.name) - length(p_name)), n.name
     limit 200
  loop
    v_last := array(select generate_series(0, length(v_name)));
    for i in 1 .. length(p_name) loop
      v_row := array[i];
      for j in 1 .. length(v_name) loop
        v_row := v_row || least(
          v_row[j] + 1,
          v_last[j + 1] + 1,
          v_last[j] + case when substr(p_name, i, 1) = substr(v_name, j, 1) then 0 else 1 end,
          case when i > 1 and j > 1 and substr(p_name, i, 1) = substr(v_name, j - 1, 1)
                                    and substr(p_name, i - 1, 1) = substr(v_name, j, 1) then v_above[j - 1] + 1 end);
      end loop;
      v_above := v_last;
      v_last := v_row;
    end loop;
    if v_last[length(v_name) + 1] <= v_most then
      v_best := v_name;
      v_most := v_last[length(v_name) + 1] - 1;
    end if;
  end loop;
  return v_best;
end;
$$;
