-- Joins of TPC-H whose FROM begins with the largest tables, so that what filters most comes last.
-- Tables stand in braces.

-- 1: volume of local suppliers (5)
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM {lineitem}, {supplier}, {orders}, {customer}, {nation}, {region}
WHERE l_suppkey = s_suppkey AND l_orderkey = o_orderkey AND c_custkey = o_custkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
GROUP BY n_name
ORDER BY revenue DESC;

-- 2: market share (8)
SELECT year(o_orderdate) AS year, sum(CASE WHEN n2.n_name = 'BRAZIL' THEN l_extendedprice ELSE 0 END) AS share
FROM {lineitem}, {orders}, {supplier}, {customer}, {nation} n1, {nation} n2, {region}, {part}
WHERE l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND o_custkey = c_custkey
  AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND s_nationkey = n2.n_nationkey
  AND p_partkey = l_partkey AND r_name = 'AMERICA' AND p_type = 'ECONOMY ANODIZED STEEL'
  AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
GROUP BY year(o_orderdate)
ORDER BY year;

-- 3: profit by nation (9)
SELECT n_name, sum(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) AS profit
FROM {lineitem}, {orders}, {partsupp}, {supplier}, {nation}, {part}
WHERE o_orderkey = l_orderkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND s_suppkey = l_suppkey
  AND s_nationkey = n_nationkey AND p_partkey = l_partkey AND p_size = 15 AND p_brand = 'Brand#13'
GROUP BY n_name
ORDER BY n_name;

-- 4: parts of one brand and their customers
SELECT c_mktsegment, count(*) AS items
FROM {lineitem}, {orders}, {customer}, {part}
WHERE o_orderkey = l_orderkey AND c_custkey = o_custkey AND p_partkey = l_partkey
  AND p_brand = 'Brand#45' AND p_container = 'WRAP JAR'
GROUP BY c_mktsegment
ORDER BY c_mktsegment;

-- 5: suppliers of one nation (7)
SELECT year(l_shipdate) AS year, sum(l_extendedprice * (1 - l_discount)) AS volume
FROM {lineitem}, {orders}, {customer}, {supplier}, {nation} n1, {nation} n2
WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
  AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
  AND n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY'
GROUP BY year(l_shipdate)
ORDER BY year;
