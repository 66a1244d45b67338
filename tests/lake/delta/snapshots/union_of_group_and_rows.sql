-- o1: main.orders, note
-- o2: main.country, name

-- definition
SELECT
  CAST("__q"."c1" AS TEXT) AS "note",
  CAST("__q"."c2" AS BIGINT) AS "n"
FROM (
  SELECT
    "note",
    COUNT(*) AS "n"
  FROM (
    SELECT
      "note"
    FROM "o1_new" AS "orders"
  ) AS "orders"
  GROUP BY
    "note"
  UNION ALL
  SELECT
    "name",
    0
  FROM (
    SELECT
      "name"
    FROM "o2_new" AS "country"
  ) AS "country"
) AS "__q"("c1", "c2");

-- all
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."note" AS TEXT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS TEXT) AS "note",
    CAST("__q"."c2" AS BIGINT) AS "n",
    CAST(1 AS INT) AS "__br",
    CAST(NULL AS BIGINT) AS "__k2_1"
  FROM (
    SELECT
      "orders"."note" AS "c1",
      COUNT(*) AS "c2"
    FROM "o1_new" AS "orders"
    GROUP BY
      "orders"."note"
  ) AS "__q"
) AS "__r"
UNION ALL
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."__k2_1" AS BIGINT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS TEXT) AS "note",
    CAST("__q"."c2" AS BIGINT) AS "n",
    CAST(2 AS INT) AS "__br",
    CAST("__q"."__k2_1" AS BIGINT) AS "__k2_1"
  FROM (
    SELECT
      "country"."name" AS "c1",
      0 AS "c2",
      "country"."__rid" AS "__k2_1"
    FROM "o2_new" AS "country"
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("orders"."note" AS TEXT) AS "k1"
  FROM "o1_delta" AS "orders"
) AS "__t";

-- akeys_2
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("country"."__rid" AS BIGINT) AS "k1"
  FROM "o2_delta" AS "country"
) AS "__t";

-- fresh
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."note" AS TEXT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS TEXT) AS "note",
    CAST("__q"."c2" AS BIGINT) AS "n",
    CAST(1 AS INT) AS "__br",
    CAST(NULL AS BIGINT) AS "__k2_1"
  FROM (
    SELECT
      "orders"."note" AS "c1",
      COUNT(*) AS "c2"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "orders"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "orders"."note"
    ) AS "orders"
    GROUP BY
      "orders"."note"
  ) AS "__q"
) AS "__r"
UNION ALL
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."__k2_1" AS BIGINT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS TEXT) AS "note",
    CAST("__q"."c2" AS BIGINT) AS "n",
    CAST(2 AS INT) AS "__br",
    CAST("__q"."__k2_1" AS BIGINT) AS "__k2_1"
  FROM (
    SELECT
      "country"."name" AS "c1",
      0 AS "c2",
      "country"."__rid" AS "__k2_1"
    FROM (
      SELECT
        *
      FROM "o2_new" AS "country"
      SEMI JOIN "akeys_2" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "country"."__rid"
    ) AS "country"
  ) AS "__q"
) AS "__r";

-- stored
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_1" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."note"
WHERE
  "__s"."__br" = 1
UNION ALL
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_2" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."__k2_1"
WHERE
  "__s"."__br" = 2;

-- gone
SELECT
  "stored"."__rid",
  "stored"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "note", "n", "__br", "__k2_1") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "note", "n", "__br", "__k2_1") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
  ON "stored"."note" IS NOT DISTINCT FROM "fresh"."note"
  AND "stored"."n" IS NOT DISTINCT FROM "fresh"."n"
  AND "stored"."__br" IS NOT DISTINCT FROM "fresh"."__br"
  AND "stored"."__k2_1" IS NOT DISTINCT FROM "fresh"."__k2_1"
  AND "stored"."__i" IS NOT DISTINCT FROM "fresh"."__i";

-- added
SELECT
  "fresh"."note",
  "fresh"."n",
  "fresh"."__br",
  "fresh"."__k2_1",
  "fresh"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "note", "n", "__br", "__k2_1") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "note", "n", "__br", "__k2_1") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
  ON "fresh"."note" IS NOT DISTINCT FROM "stored"."note"
  AND "fresh"."n" IS NOT DISTINCT FROM "stored"."n"
  AND "fresh"."__br" IS NOT DISTINCT FROM "stored"."__br"
  AND "fresh"."__k2_1" IS NOT DISTINCT FROM "stored"."__k2_1"
  AND "fresh"."__i" IS NOT DISTINCT FROM "stored"."__i";
