-- o1: main.orders, customer_id, amount
-- o2: main.customers, customer_id, region

-- definition
SELECT
  CAST("__q"."c1" AS TEXT) AS "region",
  CAST("__q"."c2" AS DECIMAL(38, 2)) AS "amount",
  CAST("__q"."c3" AS BIGINT) AS "orders"
FROM (
  SELECT
    "c"."region",
    SUM("o"."amount") AS "amount",
    COUNT(*) AS "orders"
  FROM (
    SELECT
      "customer_id",
      "amount"
    FROM "o1_new" AS "o"
  ) AS "o"
  JOIN (
    SELECT
      "customer_id",
      "region"
    FROM "o2_new" AS "c"
  ) AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  GROUP BY
    "c"."region"
) AS "__q"("c1", "c2", "c3");

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
    CAST("k1" AS TEXT) AS "region",
    CAST(CASE WHEN "__c1" > 0 THEN "__s1" END AS DECIMAL(38, 2)) AS "amount",
    CAST("__n" AS BIGINT) AS "orders",
    CAST("__n" AS BIGINT) AS "__n",
    CAST("__c1" AS BIGINT) AS "__c1",
    CAST("__s1" AS DECIMAL(38, 2)) AS "__s1"
  FROM (
    SELECT
      "c"."region" AS "k1",
      COUNT(*) AS "__n",
      COUNT("o"."amount") AS "__c1",
      CAST(COALESCE(SUM(CAST("o"."amount" AS DECIMAL(38, 2))), 0) AS DECIMAL(38, 2)) AS "__s1"
    FROM "o1_new" AS "o"
    JOIN "o2_new" AS "c"
      ON "o"."customer_id" = "c"."customer_id"
    GROUP BY
      "c"."region"
  ) AS "__q"
) AS "__r";

-- akeys_1
SELECT DISTINCT
  *
FROM (
  SELECT
    CAST("c"."region" AS TEXT) AS "k1"
  FROM "o1_delta" AS "o"
  JOIN "o2_old" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("c"."region" AS TEXT) AS "k1"
  FROM "o2_delta" AS "c"
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
    CAST("k1" AS TEXT) AS "region",
    CAST(CASE WHEN "__c1" > 0 THEN "__s1" END AS DECIMAL(38, 2)) AS "amount",
    CAST("__n" AS BIGINT) AS "orders",
    CAST("__n" AS BIGINT) AS "__n",
    CAST("__c1" AS BIGINT) AS "__c1",
    CAST("__s1" AS DECIMAL(38, 2)) AS "__s1"
  FROM (
    SELECT
      "c"."region" AS "k1",
      COUNT(*) AS "__n",
      COUNT("o"."amount") AS "__c1",
      CAST(COALESCE(SUM(CAST("o"."amount" AS DECIMAL(38, 2))), 0) AS DECIMAL(38, 2)) AS "__s1"
    FROM "o1_new" AS "o"
    JOIN (
      SELECT
        *
      FROM "o2_new" AS "c"
      SEMI JOIN "akeys_1" AS "__a"
        ON "__a"."k1" IS NOT DISTINCT FROM "c"."region"
    ) AS "c"
      ON "o"."customer_id" = "c"."customer_id"
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
  AND "stored"."amount" IS NOT DISTINCT FROM "fresh"."amount"
  AND "stored"."orders" IS NOT DISTINCT FROM "fresh"."orders"
  AND "stored"."__n" IS NOT DISTINCT FROM "fresh"."__n"
  AND "stored"."__c1" IS NOT DISTINCT FROM "fresh"."__c1"
  AND "stored"."__s1" IS NOT DISTINCT FROM "fresh"."__s1";

-- added
SELECT
  "fresh"."region",
  "fresh"."amount",
  "fresh"."orders",
  "fresh"."__n",
  "fresh"."__c1",
  "fresh"."__s1",
  "fresh"."__b"
FROM "fresh" AS "fresh"
ANTI JOIN "stored" AS "stored"
  ON "fresh"."region" IS NOT DISTINCT FROM "stored"."region"
  AND "fresh"."amount" IS NOT DISTINCT FROM "stored"."amount"
  AND "fresh"."orders" IS NOT DISTINCT FROM "stored"."orders"
  AND "fresh"."__n" IS NOT DISTINCT FROM "stored"."__n"
  AND "fresh"."__c1" IS NOT DISTINCT FROM "stored"."__c1"
  AND "fresh"."__s1" IS NOT DISTINCT FROM "stored"."__s1";

-- delta dagg
SELECT
  "k1",
  CAST(SUM("__w") AS BIGINT) AS "__n",
  CAST(COALESCE(SUM(CASE WHEN NOT "x1" IS NULL THEN "__w" END), 0) AS BIGINT) AS "__c1",
  CAST(COALESCE(SUM(CAST("x1" AS DECIMAL(38, 2)) * "__w"), 0) AS DECIMAL(38, 2)) AS "__s1"
FROM (
  SELECT
    CAST("c"."region" AS TEXT) AS "k1",
    "o"."amount" AS "x1",
    "o"."__w" * "c"."__w" AS "__w"
  FROM "o1_delta" AS "o"
  JOIN (
    SELECT
      *,
      1 AS "__w"
    FROM "o2_new" AS "__now"
    UNION ALL
    SELECT
      *
      EXCLUDE ("__w"),
      -"__w" AS "__w"
    FROM "o2_delta" AS "__back"
  ) AS "c"
    ON "o"."customer_id" = "c"."customer_id"
  UNION ALL
  SELECT
    CAST("c"."region" AS TEXT) AS "k1",
    "o"."amount" AS "x1",
    "c"."__w" AS "__w"
  FROM "o1_new" AS "o"
  JOIN "o2_delta" AS "c"
    ON "o"."customer_id" = "c"."customer_id"
) AS "__t"
GROUP BY
  "k1"
HAVING
  CAST(SUM("__w") AS BIGINT) <> 0
  OR CAST(COALESCE(SUM(CASE WHEN NOT "x1" IS NULL THEN "__w" END), 0) AS BIGINT) <> 0
  OR CAST(COALESCE(SUM(CAST("x1" AS DECIMAL(38, 2)) * "__w"), 0) AS DECIMAL(38, 2)) <> 0;

-- delta akeys_1
SELECT
  "k1"
FROM "dagg" AS "__d";

-- delta stored
SELECT
  *
FROM "dt_old" AS "__s"
SEMI JOIN "akeys_1" AS "__a"
  ON "__a"."k1" IS NOT DISTINCT FROM "__s"."region";

-- delta merged
SELECT
  "__d"."k1",
  CAST(COALESCE("__s"."__n", 0) + "__d"."__n" AS BIGINT) AS "__n",
  CAST(COALESCE("__s"."__c1", 0) + "__d"."__c1" AS BIGINT) AS "__c1",
  CAST(COALESCE("__s"."__s1", 0) + "__d"."__s1" AS DECIMAL(38, 2)) AS "__s1",
  "__s"."__rid",
  "__s"."__b" AS "__b"
FROM "dagg" AS "__d"
LEFT JOIN "stored" AS "__s"
  ON "__d"."k1" IS NOT DISTINCT FROM "__s"."region";

-- delta gone
SELECT
  "__rid",
  "__b"
FROM "merged" AS "__m"
WHERE
  NOT "__rid" IS NULL;

-- delta added
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
    CAST("k1" AS TEXT) AS "region",
    CAST(CASE WHEN "__c1" > 0 THEN "__s1" END AS DECIMAL(38, 2)) AS "amount",
    CAST("__n" AS BIGINT) AS "orders",
    CAST("__n" AS BIGINT) AS "__n",
    CAST("__c1" AS BIGINT) AS "__c1",
    CAST("__s1" AS DECIMAL(38, 2)) AS "__s1"
  FROM (
    SELECT
      *
    FROM "merged" AS "__m"
    WHERE
      "__n" > 0
  ) AS "__q"
) AS "__r";
