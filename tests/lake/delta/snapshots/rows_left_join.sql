-- o1: main.orders, order_id, customer_id
-- o2: main.customers, customer_id, region

-- definition
SELECT
  CAST("__q"."c1" AS BIGINT) AS "order_id",
  CAST("__q"."c2" AS TEXT) AS "region"
FROM (
  SELECT
    "o"."order_id",
    "c"."region"
  FROM (
    SELECT
      "order_id",
      "customer_id"
    FROM "o1_new" AS "o"
  ) AS "o"
  LEFT JOIN (
    SELECT
      "customer_id",
      "region"
    FROM "o2_new" AS "c"
  ) AS "c"
    USING ("customer_id")
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
    CAST("__q"."c2" AS TEXT) AS "region",
    CAST("__q"."__k1_1" AS BIGINT) AS "__k1_1"
  FROM (
    SELECT
      "o"."order_id" AS "c1",
      "c"."region" AS "c2",
      "o"."__rid" AS "__k1_1"
    FROM "o1_new" AS "o"
    LEFT JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("o"."__rid" AS BIGINT) AS "k1"
  FROM "o1_delta" AS "o"
  UNION ALL
  SELECT
    CAST("o"."__rid" AS BIGINT) AS "k1"
  FROM "o1_new" AS "o"
  SEMI JOIN "o2_delta" AS "__d"
    ON "o"."customer_id" = "__d"."customer_id"
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
    CAST("__q"."c2" AS TEXT) AS "region",
    CAST("__q"."__k1_1" AS BIGINT) AS "__k1_1"
  FROM (
    SELECT
      "o"."order_id" AS "c1",
      "c"."region" AS "c2",
      "o"."__rid" AS "__k1_1"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "o"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "o"."__rid"
    ) AS "o"
    LEFT JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
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
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region", "__k1_1") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region", "__k1_1") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
  ON "stored"."order_id" IS NOT DISTINCT FROM "fresh"."order_id"
  AND "stored"."region" IS NOT DISTINCT FROM "fresh"."region"
  AND "stored"."__k1_1" IS NOT DISTINCT FROM "fresh"."__k1_1"
  AND "stored"."__i" IS NOT DISTINCT FROM "fresh"."__i";

-- added
SELECT
  "fresh"."order_id",
  "fresh"."region",
  "fresh"."__k1_1",
  "fresh"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region", "__k1_1") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region", "__k1_1") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
  ON "fresh"."order_id" IS NOT DISTINCT FROM "stored"."order_id"
  AND "fresh"."region" IS NOT DISTINCT FROM "stored"."region"
  AND "fresh"."__k1_1" IS NOT DISTINCT FROM "stored"."__k1_1"
  AND "fresh"."__i" IS NOT DISTINCT FROM "stored"."__i";
