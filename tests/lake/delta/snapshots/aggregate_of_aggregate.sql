-- o1: main.customers, customer_id, region
-- o2: main.orders, customer_id, amount

-- definition
SELECT
  CAST("__q"."c1" AS TEXT) AS "region",
  CAST("__q"."c2" AS DECIMAL(38, 2)) AS "top"
FROM (
  WITH "__c0" AS (
    SELECT
      "customer_id",
      SUM("amount") AS "s"
    FROM (
      SELECT
        "customer_id",
        "amount"
      FROM "o2_new" AS "orders"
    ) AS "orders"
    GROUP BY
      "customer_id"
  )
  SELECT
    "c"."region",
    MAX("t"."s") AS "top"
  FROM (
    SELECT
      "customer_id",
      "region"
    FROM "o1_new" AS "c"
  ) AS "c"
  LEFT JOIN "__c0" AS "t"
    USING ("customer_id")
  GROUP BY
    "c"."region"
) AS "__q"("c1", "c2");

-- all
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."region" AS TEXT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS TEXT) AS "region",
    CAST("__q"."c2" AS DECIMAL(38, 2)) AS "top"
  FROM (
    SELECT
      "c"."region" AS "c1",
      MAX("t"."s") AS "c2"
    FROM "o1_new" AS "c"
    LEFT JOIN (
      SELECT
        "orders"."customer_id" AS "customer_id",
        SUM("orders"."amount") AS "s"
      FROM "o2_new" AS "orders"
      GROUP BY
        "orders"."customer_id"
    ) AS "t"
      ON "c"."customer_id" = "t"."customer_id"
    GROUP BY
      "c"."region"
  ) AS "__q"
) AS "__r";

-- b2_keys
SELECT DISTINCT
  *
FROM (
  SELECT
    "orders"."customer_id" AS "k1"
  FROM "o2_delta" AS "orders"
) AS "__t";

-- b2_delta
SELECT
  "customer_id",
  "s"
FROM (
  SELECT
    *,
    1 AS "__w"
  FROM (
    SELECT
      "orders"."customer_id" AS "customer_id",
      SUM("orders"."amount") AS "s"
    FROM (
      SELECT
        *
      FROM "o2_new" AS "orders"
      SEMI JOIN "b2_keys" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "orders"."customer_id"
    ) AS "orders"
    GROUP BY
      "orders"."customer_id"
  ) AS "__v"
  UNION ALL
  SELECT
    *,
    -1 AS "__w"
  FROM (
    SELECT
      "orders"."customer_id" AS "customer_id",
      SUM("orders"."amount") AS "s"
    FROM (
      SELECT
        *
      FROM "o2_old" AS "orders"
      SEMI JOIN "b2_keys" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "orders"."customer_id"
    ) AS "orders"
    GROUP BY
      "orders"."customer_id"
  ) AS "__v"
) AS "__t"
GROUP BY
  "customer_id",
  "s",
  CASE
    WHEN REGEXP_MATCHES(TYPEOF("customer_id"), '\b(FLOAT|DOUBLE|INTERVAL|TIME WITH TIME ZONE)\b')
    THEN CAST("customer_id" AS TEXT)
  END,
  CASE
    WHEN REGEXP_MATCHES(TYPEOF("s"), '\b(FLOAT|DOUBLE|INTERVAL|TIME WITH TIME ZONE)\b')
    THEN CAST("s" AS TEXT)
  END
HAVING
  SUM("__w") <> 0;

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("c"."region" AS TEXT) AS "k1"
  FROM "o1_delta" AS "c"
  UNION ALL
  SELECT
    CAST("c"."region" AS TEXT) AS "k1"
  FROM "o1_new" AS "c"
  SEMI JOIN "b2_delta" AS "__d"
    ON "c"."customer_id" = "__d"."customer_id"
) AS "__t";

-- fresh
SELECT
  *,
  CAST(COALESCE(
    (
      COALESCE(CAST(MURMUR3_32(CAST("__r"."region" AS TEXT)) AS BIGINT) & 2147483647, 0)
    ) % 16,
    -1
  ) AS SMALLINT) AS "__b"
FROM (
  SELECT
    CAST("__q"."c1" AS TEXT) AS "region",
    CAST("__q"."c2" AS DECIMAL(38, 2)) AS "top"
  FROM (
    SELECT
      "c"."region" AS "c1",
      MAX("t"."s") AS "c2"
    FROM (
      SELECT
        *
      FROM "o1_new" AS "c"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "c"."region"
    ) AS "c"
    LEFT JOIN (
      SELECT
        "orders"."customer_id" AS "customer_id",
        SUM("orders"."amount") AS "s"
      FROM (
        SELECT
          *
        FROM "o2_new" AS "orders"
        SEMI JOIN (
          SELECT
            "c"."customer_id" AS "customer_id"
          FROM (
            SELECT
              *
            FROM "o1_new" AS "c"
            SEMI JOIN "akeys_1" AS "__a"
              ON "__a"."k1" IS NOT DISTINCT FROM "c"."region"
          ) AS "c"
        ) AS "__a"
          ON "__a"."customer_id" IS NOT DISTINCT FROM "orders"."customer_id"
      ) AS "orders"
      GROUP BY
        "orders"."customer_id"
    ) AS "t"
      ON "c"."customer_id" = "t"."customer_id"
    GROUP BY
      "c"."region"
  ) AS "__q"
) AS "__r";

-- stored
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_1" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."region";

-- gone
SELECT
  "stored"."__rid",
  "stored"."__b"
FROM "stored" AS "stored"
ANTI JOIN "fresh" AS "fresh"
  ON "stored"."region" IS NOT DISTINCT FROM "fresh"."region"
  AND "stored"."top" IS NOT DISTINCT FROM "fresh"."top";

-- added
SELECT
  "fresh"."region",
  "fresh"."top",
  "fresh"."__b"
FROM "fresh" AS "fresh"
ANTI JOIN "stored" AS "stored"
  ON "fresh"."region" IS NOT DISTINCT FROM "stored"."region"
  AND "fresh"."top" IS NOT DISTINCT FROM "stored"."top";
