-- o1: main.orders, customer_id
-- o2: main.customers, customer_id, country_id
-- o3: main.country, country_id, name

-- definition
SELECT
  CAST("__q"."c1" AS BIGINT) AS "customer_id",
  CAST("__q"."c2" AS TEXT) AS "country"
FROM (
  SELECT
    "o"."customer_id",
    MAX("n"."name") AS "country"
  FROM (
    SELECT
      "customer_id"
    FROM "o1_new" AS "o"
  ) AS "o"
  JOIN (
    SELECT
      "customer_id",
      "country_id"
    FROM "o2_new" AS "c"
  ) AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  JOIN (
    SELECT
      "country_id",
      "name"
    FROM "o3_new" AS "n"
  ) AS "n"
    ON "n"."country_id" = "c"."country_id"
  GROUP BY
    "o"."customer_id"
) AS "__q"("c1", "c2");

-- all
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."customer_id" AS BIGINT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS BIGINT) AS "customer_id",
    CAST("__q"."c2" AS TEXT) AS "country"
  FROM (
    SELECT
      "o"."customer_id" AS "c1",
      MAX("n"."name") AS "c2"
    FROM "o1_new" AS "o"
    JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
    JOIN "o3_new" AS "n"
      ON "n"."country_id" = "c"."country_id"
    GROUP BY
      "o"."customer_id"
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("o"."customer_id" AS BIGINT) AS "k1"
  FROM "o1_delta" AS "o"
  UNION ALL
  SELECT
    CAST("o"."customer_id" AS BIGINT) AS "k1"
  FROM "o1_new" AS "o"
  JOIN "o2_delta" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."customer_id" AS BIGINT) AS "k1"
  FROM "o1_new" AS "o"
  JOIN "o2_new" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  JOIN "o3_delta" AS "n"
    ON "n"."country_id" = "c"."country_id"
) AS "__t";

-- fresh
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."customer_id" AS BIGINT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS BIGINT) AS "customer_id",
    CAST("__q"."c2" AS TEXT) AS "country"
  FROM (
    SELECT
      "o"."customer_id" AS "c1",
      MAX("n"."name") AS "c2"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "o"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "o"."customer_id"
    ) AS "o"
    JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
    JOIN "o3_new" AS "n"
      ON "n"."country_id" = "c"."country_id"
    GROUP BY
      "o"."customer_id"
  ) AS "__q"
) AS "__r";

-- stored
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_1" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."customer_id";

-- gone
SELECT
  "stored"."__rid",
  "stored"."__b"
FROM "stored" AS "stored"
ANTI JOIN "fresh" AS "fresh"
  ON "stored"."customer_id" IS NOT DISTINCT FROM "fresh"."customer_id"
  AND "stored"."country" IS NOT DISTINCT FROM "fresh"."country";

-- added
SELECT
  "fresh"."customer_id",
  "fresh"."country",
  "fresh"."__b"
FROM "fresh" AS "fresh"
ANTI JOIN "stored" AS "stored"
  ON "fresh"."customer_id" IS NOT DISTINCT FROM "stored"."customer_id"
  AND "fresh"."country" IS NOT DISTINCT FROM "stored"."country";
