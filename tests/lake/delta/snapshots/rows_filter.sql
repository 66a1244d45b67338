-- o1: main.orders, order_id, amount

-- definition
SELECT
  CAST("__q"."c1" AS BIGINT) AS "order_id",
  CAST("__q"."c2" AS DECIMAL(10, 2)) AS "amount"
FROM (
  SELECT
    "order_id",
    "amount"
  FROM (
    SELECT
      "order_id",
      "amount"
    FROM "o1_new" AS "orders"
  ) AS "orders"
  WHERE
    "amount" > 5
) AS "__q"("c1", "c2");

-- all
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."__k1_1" AS BIGINT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS BIGINT) AS "order_id",
    CAST("__q"."c2" AS DECIMAL(10, 2)) AS "amount",
    CAST("__q"."__k1_1" AS BIGINT) AS "__k1_1"
  FROM (
    SELECT
      "orders"."order_id" AS "c1",
      "orders"."amount" AS "c2",
      "orders"."__rid" AS "__k1_1"
    FROM "o1_new" AS "orders"
    WHERE
      "orders"."amount" > 5
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("orders"."__rid" AS BIGINT) AS "k1"
  FROM "o1_delta" AS "orders"
  WHERE
    "orders"."amount" > 5
) AS "__t";

-- fresh
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."__k1_1" AS BIGINT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS BIGINT) AS "order_id",
    CAST("__q"."c2" AS DECIMAL(10, 2)) AS "amount",
    CAST("__q"."__k1_1" AS BIGINT) AS "__k1_1"
  FROM (
    SELECT
      "orders"."order_id" AS "c1",
      "orders"."amount" AS "c2",
      "orders"."__rid" AS "__k1_1"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "orders"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "orders"."__rid"
    ) AS "orders"
    WHERE
      "orders"."amount" > 5
  ) AS "__q"
) AS "__r";

-- stored
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_1" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."__k1_1";

-- gone
SELECT
  "stored"."__rid",
  "stored"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "amount", "__k1_1") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "amount", "__k1_1") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
  ON "stored"."order_id" IS NOT DISTINCT FROM "fresh"."order_id"
  AND "stored"."amount" IS NOT DISTINCT FROM "fresh"."amount"
  AND "stored"."__k1_1" IS NOT DISTINCT FROM "fresh"."__k1_1"
  AND "stored"."__i" IS NOT DISTINCT FROM "fresh"."__i";

-- added
SELECT
  "fresh"."order_id",
  "fresh"."amount",
  "fresh"."__k1_1",
  "fresh"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "amount", "__k1_1") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "amount", "__k1_1") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
  ON "fresh"."order_id" IS NOT DISTINCT FROM "stored"."order_id"
  AND "fresh"."amount" IS NOT DISTINCT FROM "stored"."amount"
  AND "fresh"."__k1_1" IS NOT DISTINCT FROM "stored"."__k1_1"
  AND "fresh"."__i" IS NOT DISTINCT FROM "stored"."__i";
