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
  FULL JOIN (
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
      (
        (
          COALESCE(CAST(MURMUR3_32(CAST("__r"."order_id" AS BIGINT)) AS BIGINT) & 2147483647, 0)
        ) * 1000003 + COALESCE(CAST(MURMUR3_32(CAST("__r"."region" AS TEXT)) AS BIGINT) & 2147483647, 0)
      ) % 2147483647
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS BIGINT) AS "order_id",
    CAST("__q"."c2" AS TEXT) AS "region"
  FROM (
    SELECT
      "o"."order_id" AS "c1",
      "c"."region" AS "c2"
    FROM "o1_new" AS "o"
    FULL JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_delta" AS "o"
  LEFT JOIN "o2_old" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_old" AS "o"
  RIGHT JOIN "o2_old" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  SEMI JOIN "o1_delta" AS "__d"
    ON "__d"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_delta" AS "o"
  LEFT JOIN "o2_new" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_new" AS "o"
  RIGHT JOIN "o2_new" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  SEMI JOIN "o1_delta" AS "__d"
    ON "__d"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_old" AS "o"
  RIGHT JOIN "o2_delta" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_old" AS "o"
  LEFT JOIN "o2_old" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  SEMI JOIN "o2_delta" AS "__d"
    ON "o"."customer_id" = "__d"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_new" AS "o"
  RIGHT JOIN "o2_delta" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("o"."order_id" AS BIGINT) AS "k1",
    CAST("c"."region" AS TEXT) AS "k2"
  FROM "o1_new" AS "o"
  LEFT JOIN "o2_new" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  SEMI JOIN "o2_delta" AS "__d"
    ON "o"."customer_id" = "__d"."customer_id"
) AS "__t";

-- fresh
SELECT
  *,
  CAST(COALESCE(
    (
      (
        (
          COALESCE(CAST(MURMUR3_32(CAST("__r"."order_id" AS BIGINT)) AS BIGINT) & 2147483647, 0)
        ) * 1000003 + COALESCE(CAST(MURMUR3_32(CAST("__r"."region" AS TEXT)) AS BIGINT) & 2147483647, 0)
      ) % 2147483647
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS BIGINT) AS "order_id",
    CAST("__q"."c2" AS TEXT) AS "region"
  FROM (
    SELECT
      "o"."order_id" AS "c1",
      "c"."region" AS "c2"
    FROM "o1_new" AS "o"
    FULL JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
    SEMI JOIN "akeys_1" AS "__a"
      ON "__a"."k1" IS NOT DISTINCT FROM "o"."order_id"
      AND "__a"."k2" IS NOT DISTINCT FROM "c"."region"
  ) AS "__q"
) AS "__r";

-- stored
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_1" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."order_id"
  AND "__a"."k2" IS NOT DISTINCT FROM "__s"."region";

-- gone
SELECT
  "stored"."__rid",
  "stored"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
  ON "stored"."order_id" IS NOT DISTINCT FROM "fresh"."order_id"
  AND "stored"."region" IS NOT DISTINCT FROM "fresh"."region"
  AND "stored"."__i" IS NOT DISTINCT FROM "fresh"."__i";

-- added
SELECT
  "fresh"."order_id",
  "fresh"."region",
  "fresh"."__b"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region") AS "__i"
  FROM "fresh" AS "__n"
) AS "fresh"
ANTI JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "order_id", "region") AS "__i"
  FROM "stored" AS "__n"
) AS "stored"
  ON "fresh"."order_id" IS NOT DISTINCT FROM "stored"."order_id"
  AND "fresh"."region" IS NOT DISTINCT FROM "stored"."region"
  AND "fresh"."__i" IS NOT DISTINCT FROM "stored"."__i";
