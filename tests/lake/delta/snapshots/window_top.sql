-- o1: main.orders, order_id, customer_id, amount

-- definition
SELECT
  CAST("__q"."c1" AS BIGINT) AS "customer_id",
  CAST("__q"."c2" AS BIGINT) AS "order_id"
FROM (
  SELECT
    "customer_id",
    "order_id"
  FROM (
    SELECT
      "order_id",
      "customer_id",
      "amount"
    FROM "o1_new" AS "orders"
  ) AS "orders"
  QUALIFY
    ROW_NUMBER() OVER (PARTITION BY "customer_id" ORDER BY "amount" DESC, "order_id") = 1
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
    CAST("__q"."c2" AS BIGINT) AS "order_id"
  FROM (
    SELECT
      "orders"."customer_id" AS "c1",
      "orders"."order_id" AS "c2"
    FROM "o1_new" AS "orders"
    QUALIFY
      ROW_NUMBER() OVER (
        PARTITION BY "orders"."customer_id"
        ORDER BY "orders"."amount" DESC, "orders"."order_id"
      ) = 1
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
    CAST("__q"."c2" AS BIGINT) AS "order_id"
  FROM (
    SELECT
      "orders"."customer_id" AS "c1",
      "orders"."order_id" AS "c2"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "orders"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "orders"."customer_id"
    ) AS "orders"
    QUALIFY
      ROW_NUMBER() OVER (
        PARTITION BY "orders"."customer_id"
        ORDER BY "orders"."amount" DESC, "orders"."order_id"
      ) = 1
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
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "customer_id", "order_id") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "customer_id", "order_id") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
  ON "stored"."customer_id" IS NOT DISTINCT FROM "fresh"."customer_id"
  AND "stored"."order_id" IS NOT DISTINCT FROM "fresh"."order_id"
  AND "stored"."__i" IS NOT DISTINCT FROM "fresh"."__i";

-- added
SELECT
  "fresh"."customer_id",
  "fresh"."order_id",
  "fresh"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "customer_id", "order_id") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "customer_id", "order_id") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
  ON "fresh"."customer_id" IS NOT DISTINCT FROM "stored"."customer_id"
  AND "fresh"."order_id" IS NOT DISTINCT FROM "stored"."order_id"
  AND "fresh"."__i" IS NOT DISTINCT FROM "stored"."__i";
