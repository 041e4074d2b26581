-- Joins as TPC-DS has them, over tables of TPC-H: several facts, channels put together, years side by side, dimensions
-- that are met twice. Tables stand in braces.

-- 1: two facts that share dimensions
SELECT n_name, p_brand, count(*) AS items, sum(l_extendedprice) AS sold, sum(ps_availqty) AS there
FROM {lineitem}, {partsupp}, {orders}, {supplier}, {nation}, {customer}, {part}
WHERE l_orderkey = o_orderkey AND l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND ps_suppkey = s_suppkey
  AND s_nationkey = n_nationkey AND o_custkey = c_custkey AND p_partkey = ps_partkey
  AND c_mktsegment = 'MACHINERY' AND p_size BETWEEN 48 AND 50 AND p_container = 'SM PKG'
GROUP BY n_name, p_brand
ORDER BY n_name, p_brand;

-- 2: channels put together, then joined
SELECT p_brand, year, sum(price) AS sold
FROM (
    SELECT l_partkey AS item, l_suppkey AS maker, l_extendedprice AS price, year(l_shipdate) AS year
    FROM {lineitem} WHERE l_shipmode = 'AIR' AND l_shipdate < DATE '1994-01-01'
    UNION ALL
    SELECT l_partkey, l_suppkey, l_extendedprice, year(l_receiptdate)
    FROM {lineitem} WHERE l_shipmode = 'RAIL' AND l_receiptdate < DATE '1994-01-01'
), {partsupp}, {supplier}, {nation}, {part}
WHERE item = ps_partkey AND maker = ps_suppkey AND ps_suppkey = s_suppkey AND s_nationkey = n_nationkey
  AND item = p_partkey AND p_type = 'SMALL PLATED COPPER' AND n_name IN ('FRANCE', 'GERMANY', 'KENYA')
GROUP BY p_brand, year
ORDER BY p_brand, year;

-- 3: customers who bought more than the year before
WITH bought AS (
    SELECT c_custkey, year(o_orderdate) AS year, sum(l_extendedprice * (1 - l_discount)) AS total
    FROM {lineitem}, {orders}, {customer}, {nation}
    WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n_nationkey AND n_name = 'PERU'
    GROUP BY c_custkey, year(o_orderdate)
)
SELECT old.c_custkey, old.total AS before, new.total AS after
FROM bought old, bought new
WHERE old.c_custkey = new.c_custkey AND old.year = 1995 AND new.year = 1996 AND new.total > old.total
ORDER BY after - before DESC, old.c_custkey
LIMIT 100;

-- 4: a dimension met twice, and rows that have no partner
SELECT n1.n_name AS sold_from, n2.n_name AS sold_to, count(*) AS items, avg(l_quantity) AS quantity
FROM {lineitem}, {supplier}, {orders}, {customer}, {nation} n1, {nation} n2, {region} r1, {region} r2
WHERE l_suppkey = s_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
  AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
  AND n1.n_regionkey = r1.r_regionkey AND n2.n_regionkey = r2.r_regionkey
  AND r1.r_name = 'AFRICA' AND r2.r_name = 'EUROPE' AND o_orderdate >= DATE '1998-06-01'
  AND NOT EXISTS (SELECT 1 FROM {partsupp} WHERE ps_partkey = l_partkey AND ps_availqty > 9000)
GROUP BY n1.n_name, n2.n_name
ORDER BY sold_from, sold_to;
