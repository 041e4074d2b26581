-- The 22 business questions of the TPC-H specification, with its validation parameters. Tables stand in braces.

-- 1: pricing summary
SELECT l_returnflag, l_linestatus,
       sum(l_quantity) AS quantity,
       sum(l_extendedprice) AS base_price,
       sum(l_extendedprice * (1 - l_discount)) AS discounted,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charged,
       avg(l_quantity) AS average_quantity,
       avg(l_extendedprice) AS average_price,
       avg(l_discount) AS average_discount,
       count(*) AS items
FROM {lineitem}
WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;

-- 2: suppliers of a part at the least cost
WITH offers AS (
    SELECT *
    FROM {partsupp}
    JOIN {supplier} ON s_suppkey = ps_suppkey
    JOIN {nation} ON n_nationkey = s_nationkey
    JOIN {region} ON r_regionkey = n_regionkey
    WHERE r_name = 'EUROPE'
)
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM {part}
JOIN offers ON ps_partkey = p_partkey
WHERE p_size = 15
  AND p_type LIKE '%BRASS'
  AND ps_supplycost = (SELECT min(other.ps_supplycost) FROM offers AS other WHERE other.ps_partkey = p_partkey)
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100;

-- 3: orders not shipped yet that are worth most
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM {customer}
JOIN {orders} ON o_custkey = c_custkey
JOIN {lineitem} ON l_orderkey = o_orderkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate, l_orderkey
LIMIT 10;

-- 4: orders with late items, by priority
SELECT o_orderpriority, count(*) AS late_orders
FROM {orders}
WHERE o_orderdate >= DATE '1993-07-01'
  AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH
  AND EXISTS (SELECT 1 FROM {lineitem} WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority;

-- 5: revenue between customers and suppliers of one nation
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM {customer}
JOIN {orders} ON o_custkey = c_custkey
JOIN {lineitem} ON l_orderkey = o_orderkey
JOIN {supplier} ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
JOIN {nation} ON n_nationkey = s_nationkey
JOIN {region} ON r_regionkey = n_regionkey
WHERE r_name = 'ASIA'
  AND o_orderdate >= DATE '1994-01-01'
  AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY n_name
ORDER BY revenue DESC;

-- 6: revenue that discounts cost
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM {lineitem}
WHERE l_shipdate >= DATE '1994-01-01'
  AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
  AND l_discount BETWEEN 0.05 AND 0.07
  AND l_quantity < 24;

-- 7: trade between two nations
WITH shipped AS (
    SELECT seller.n_name AS seller, buyer.n_name AS buyer, year(l_shipdate) AS shipped_in,
           l_extendedprice * (1 - l_discount) AS volume
    FROM {supplier}
    JOIN {lineitem} ON l_suppkey = s_suppkey
    JOIN {orders} ON o_orderkey = l_orderkey
    JOIN {customer} ON c_custkey = o_custkey
    JOIN {nation} AS seller ON seller.n_nationkey = s_nationkey
    JOIN {nation} AS buyer ON buyer.n_nationkey = c_nationkey
    WHERE l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
      AND ((seller.n_name = 'FRANCE' AND buyer.n_name = 'GERMANY')
        OR (seller.n_name = 'GERMANY' AND buyer.n_name = 'FRANCE'))
)
SELECT seller, buyer, shipped_in, sum(volume) AS revenue
FROM shipped
GROUP BY seller, buyer, shipped_in
ORDER BY seller, buyer, shipped_in;

-- 8: share of a nation in a market
WITH sold AS (
    SELECT year(o_orderdate) AS ordered_in, seller.n_name AS seller, l_extendedprice * (1 - l_discount) AS volume
    FROM {part}
    JOIN {lineitem} ON l_partkey = p_partkey
    JOIN {supplier} ON s_suppkey = l_suppkey
    JOIN {orders} ON o_orderkey = l_orderkey
    JOIN {customer} ON c_custkey = o_custkey
    JOIN {nation} AS buyer ON buyer.n_nationkey = c_nationkey
    JOIN {region} ON r_regionkey = buyer.n_regionkey
    JOIN {nation} AS seller ON seller.n_nationkey = s_nationkey
    WHERE r_name = 'AMERICA'
      AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
      AND p_type = 'ECONOMY ANODIZED STEEL'
)
SELECT ordered_in, sum(CASE WHEN seller = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS market_share
FROM sold
GROUP BY ordered_in
ORDER BY ordered_in;

-- 9: profit by nation and year
WITH sold AS (
    SELECT n_name AS seller, year(o_orderdate) AS ordered_in,
           l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS gained
    FROM {part}
    JOIN {lineitem} ON l_partkey = p_partkey
    JOIN {supplier} ON s_suppkey = l_suppkey
    JOIN {partsupp} ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
    JOIN {orders} ON o_orderkey = l_orderkey
    JOIN {nation} ON n_nationkey = s_nationkey
    WHERE p_name LIKE '%green%'
)
SELECT seller, ordered_in, sum(gained) AS profit
FROM sold
GROUP BY seller, ordered_in
ORDER BY seller, ordered_in DESC;

-- 10: customers who returned most
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS lost, c_acctbal, n_name, c_address, c_phone,
       c_comment
FROM {customer}
JOIN {orders} ON o_custkey = c_custkey
JOIN {lineitem} ON l_orderkey = o_orderkey
JOIN {nation} ON n_nationkey = c_nationkey
WHERE o_orderdate >= DATE '1993-10-01'
  AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH
  AND l_returnflag = 'R'
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY lost DESC, c_custkey
LIMIT 20;

-- 11: stock that is worth a large part of a nation's
WITH stock AS (
    SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS worth
    FROM {partsupp}
    JOIN {supplier} ON s_suppkey = ps_suppkey
    JOIN {nation} ON n_nationkey = s_nationkey
    WHERE n_name = 'GERMANY'
    GROUP BY ps_partkey
)
SELECT ps_partkey, worth
FROM stock
WHERE worth > (SELECT sum(worth) * 0.0001 FROM stock)
ORDER BY worth DESC, ps_partkey;

-- 12: late items of important orders, by ship mode
SELECT l_shipmode,
       sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS important,
       sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS other
FROM {orders}
JOIN {lineitem} ON l_orderkey = o_orderkey
WHERE l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate
  AND l_receiptdate >= DATE '1994-01-01'
  AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY l_shipmode
ORDER BY l_shipmode;

-- 13: customers by their number of orders
WITH ordered AS (
    SELECT c_custkey, count(o_orderkey) AS orders_made
    FROM {customer}
    LEFT JOIN {orders} ON o_custkey = c_custkey AND o_comment NOT LIKE '%special%requests%'
    GROUP BY c_custkey
)
SELECT orders_made, count(*) AS customers
FROM ordered
GROUP BY orders_made
ORDER BY customers DESC, orders_made DESC;

-- 14: part of the revenue that promotions made
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
       / sum(l_extendedprice * (1 - l_discount)) AS promoted
FROM {lineitem}
JOIN {part} ON p_partkey = l_partkey
WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH;

-- 15: the best supplier
WITH earned AS (
    SELECT l_suppkey AS earner, sum(l_extendedprice * (1 - l_discount)) AS revenue
    FROM {lineitem}
    WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH
    GROUP BY l_suppkey
)
SELECT s_suppkey, s_name, s_address, s_phone, revenue
FROM {supplier}
JOIN earned ON earner = s_suppkey
WHERE revenue = (SELECT max(revenue) FROM earned)
ORDER BY s_suppkey;

-- 16: how many suppliers offer a kind of part
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS suppliers
FROM {partsupp}
JOIN {part} ON p_partkey = ps_partkey
WHERE p_brand <> 'Brand#45'
  AND p_type NOT LIKE 'MEDIUM POLISHED%'
  AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM {supplier} WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size
ORDER BY suppliers DESC, p_brand, p_type, p_size;

-- 17: revenue of small orders
SELECT sum(l_extendedprice) / 7.0 AS average_of_a_year
FROM {lineitem}
JOIN {part} ON p_partkey = l_partkey
WHERE p_brand = 'Brand#23'
  AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * avg(other.l_quantity) FROM {lineitem} AS other WHERE other.l_partkey = p_partkey);

-- 18: customers of large orders
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
FROM {customer}
JOIN {orders} ON o_custkey = c_custkey
JOIN {lineitem} ON l_orderkey = o_orderkey
WHERE o_orderkey IN (SELECT l_orderkey FROM {lineitem} GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate, o_orderkey
LIMIT 100;

-- 19: revenue of some parts delivered by air
SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM {lineitem}
JOIN {part} ON p_partkey = l_partkey
WHERE l_shipmode IN ('AIR', 'AIR REG')
  AND l_shipinstruct = 'DELIVER IN PERSON'
  AND ((p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
    OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
    OR (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15));

-- 20: suppliers with more of a part than they sell
SELECT s_name, s_address
FROM {supplier}
JOIN {nation} ON n_nationkey = s_nationkey
WHERE n_name = 'CANADA'
  AND s_suppkey IN (
      SELECT ps_suppkey
      FROM {partsupp}
      WHERE ps_partkey IN (SELECT p_partkey FROM {part} WHERE p_name LIKE 'forest%')
        AND ps_availqty > (
            SELECT 0.5 * sum(l_quantity)
            FROM {lineitem}
            WHERE l_partkey = ps_partkey
              AND l_suppkey = ps_suppkey
              AND l_shipdate >= DATE '1994-01-01'
              AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
        )
  )
ORDER BY s_name;

-- 21: suppliers who alone kept an order waiting
SELECT s_name, count(*) AS waits
FROM {supplier}
JOIN {lineitem} AS late ON late.l_suppkey = s_suppkey
JOIN {orders} ON o_orderkey = late.l_orderkey
JOIN {nation} ON n_nationkey = s_nationkey
WHERE n_name = 'SAUDI ARABIA'
  AND o_orderstatus = 'F'
  AND late.l_receiptdate > late.l_commitdate
  AND EXISTS (
      SELECT 1 FROM {lineitem} AS other
      WHERE other.l_orderkey = late.l_orderkey AND other.l_suppkey <> late.l_suppkey
  )
  AND NOT EXISTS (
      SELECT 1 FROM {lineitem} AS other
      WHERE other.l_orderkey = late.l_orderkey
        AND other.l_suppkey <> late.l_suppkey
        AND other.l_receiptdate > other.l_commitdate
  )
GROUP BY s_name
ORDER BY waits DESC, s_name
LIMIT 100;

-- 22: rich customers without orders
WITH rich AS (
    SELECT substring(c_phone, 1, 2) AS code, c_acctbal, c_custkey
    FROM {customer}
    WHERE substring(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
)
SELECT code, count(*) AS customers, sum(c_acctbal) AS balance
FROM rich
WHERE c_acctbal > (SELECT avg(c_acctbal) FROM rich WHERE c_acctbal > 0.00)
  AND NOT EXISTS (SELECT 1 FROM {orders} WHERE o_custkey = c_custkey)
GROUP BY code
ORDER BY code;
