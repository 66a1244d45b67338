-- o1: main.orders, customer_id, amount

-- definition
SELECT
  CAST("__q"."c1" AS BIGINT) AS "customer_id",
  CAST("__q"."c2" AS DECIMAL(10, 2)) AS "top"
FROM (
  SELECT
    "customer_id",
    MAX("amount") AS "top"
  FROM (
    SELECT
      "customer_id",
      "amount"
    FROM "o1_new" AS "orders"
  ) AS "orders"
  GROUP BY
    "customer_id"
  HAVING
    COUNT(*) > 1
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
    CAST("__q"."c2" AS DECIMAL(10, 2)) AS "top"
  FROM (
    SELECT
      "orders"."customer_id" AS "c1",
      MAX("orders"."amount") AS "c2"
    FROM "o1_new" AS "orders"
    GROUP BY
      "orders"."customer_id"
    HAVING
      COUNT(*) > 1
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("orders"."customer_id" AS BIGINT) AS "k1"
  FROM "o1_delta" AS "orders"
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
    CAST("__q"."c2" AS DECIMAL(10, 2)) AS "top"
  FROM (
    SELECT
      "orders"."customer_id" AS "c1",
      MAX("orders"."amount") AS "c2"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "orders"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "orders"."customer_id"
    ) AS "orders"
    GROUP BY
      "orders"."customer_id"
    HAVING
      COUNT(*) > 1
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
  AND "stored"."top" IS NOT DISTINCT FROM "fresh"."top";

-- added
SELECT
  "fresh"."customer_id",
  "fresh"."top",
  "fresh"."__b"
FROM "fresh" AS "fresh"
ANTI JOIN "stored" AS "stored"
  ON "fresh"."customer_id" IS NOT DISTINCT FROM "stored"."customer_id"
  AND "fresh"."top" IS NOT DISTINCT FROM "stored"."top";
