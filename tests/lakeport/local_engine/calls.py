"""Calls of functions over the columns of ``random_table``, of which no value makes either engine fail."""

__all__ = ["CALLS", "CLOSE_CALLS"]

CALLS = """
upper(split_part(t, ',', 1)), upper('straße ä'), lower('ÄΟ-x'), ucase(t), lower(replace(t, 'Ελλάδα', '')), lcase('ÄB')
length(s), char_length(t), character_length(t), len(t), octet_length(s), bit_length(t), length(bin)
octet_length(bin)
trim(s), ltrim(s), rtrim(s), btrim(s), trim(BOTH 'a ' FROM s), trim(LEADING ' ' FROM s), trim(TRAILING 'b' FROM s)
btrim(s, 'aA'), ltrim('aA', s), rtrim('aA', s)
replace(s, 'a', 'ö'), replace(s, 'a'), replace(s, '', 'x'), replace(s, t, 'x')
repeat(t, k), space(k), repeat(s, 2)
lpad(s, 5, 'xy'), rpad(s, 5, 'xy'), lpad(s, k, 'é'), rpad(s, k), lpad(s, 3), lpad(s, 4, ''), rpad(t, 9, 'ab')
left(s, 2), right(s, 2), left(s, k), right(s, k), left(s, 0)
instr(s, t), instr(s, 'a'), instr(s, ''), locate('a', s), locate(t, s), position('a', s), locate('a', s, 2)
locate('', s, 2)
contains(s, 'a'), contains(s, t), startswith(s, t), endswith(s, t), startswith(s, ''), endswith(s, 'b')
substring_index(s, ',', 2), substring_index(s, ',', -2), substring_index(s, '.', 1), substring_index(s, ' ', 0)
split_part(s, ',', 1), split_part(s, ',', 2), split_part(s, ',', -1), split_part(s, '.', 9)
translate(s, 'abc', 'xy'), translate(s, 'aab', 'xyz'), ascii(s), ascii(t)
md5(s), sha(s), sha1(s), base64(s), hex(s), hex(bin), base64(bin), md5(bin)
hex(n), hex(b), bin(b), bin(k), hex(p)
concat_ws('-', s, t), concat_ws(',', s, NULL, t), concat(s, t), s || t, concat(s, '-', t)
substring(s, 2, 3), substr(s, 2), substring(s, 1, 0), substr(t, 3, 1)
s LIKE 'a%', s LIKE '%\\\\%%', s LIKE '_b%', t LIKE '%\\\\_%', t LIKE '%\\\\\\\\', s LIKE '', s NOT LIKE '%a%'
s RLIKE 'a', s RLIKE '^a', s RLIKE 'b$', rlike(s, '^.b'), regexp(t, 'x'), s RLIKE '[a-c]+\\\\.', s RLIKE '\\\\d{2}'
s RLIKE '^\\\\s', s RLIKE 'a|x'
regexp_like(s, '^(a|b)+$'), s RLIKE '[^a-zA-Z ]', s RLIKE '\\\\w\\\\s\\\\w', s RLIKE '^$', s RLIKE 'tab$'
s RLIKE '[\\\\s,]'
regexp_replace(s, 'a+', 'X'), regexp_replace(s, '[0-9]', ''), regexp_replace(s, '\\\\s', '_')
regexp_replace(t, '.', '-')
regexp_extract(s, '(a)(b)?', 1), regexp_extract(s, '([a-z]+),([a-z]+)', 2), regexp_extract(s, '[0-9]+', 0)
regexp_extract(s, '(b)')
split(s, ','), split(s, ' '), split(s, '\\\\.'), split(t, 'ab')
nanvl(r, r), nanvl(r, f), nanvl(f, r)
sqrt(f), sqrt(k), sqrt(m), sign(f), signum(m), sign(n), isnan(f), nanvl(f, g), rint(f)
ceil(CASE WHEN abs(f) < 1e9 THEN f END), floor(CASE WHEN abs(f) < 1e9 THEN f END), ceil(m), floor(m), ceiling(k)
floor(n), ceil(w), floor(w), floor(b)
round(f, 2), round(f), round(f, 0), round(g, 5), round(f, 1), round(n), round(m, 1), round(w, 3), round(v, 2)
abs(k), abs(f), abs(m), -f, -m
n % 7, n % nullif(k, 0), mod(n, 3), pmod(n, 3), pmod(k, -3), pmod(n, nullif(k, 0)), b % 1000
n div 7, n div nullif(k, 0), p div 3, b div nullif(c, 0) + 0 * id
n & k, n | k, n ^ k, ~n, b & c, p | k, bit_count(n), bit_count(b)
pi(), e()
f + g, f - g, f * g, n * 2.0D, k / 2, f / nullif(k, 0)
m + w, m - w, w * 1.5, m * m * m, w * 3, m * 0.0001 * m, (w + m) * 2, (v - v) + 1
m / 3, w / 7, m / nullif(k, 0), v / 1000
year(day), quarter(day), month(day), day(day), dayofmonth(day), dayofweek(day), weekday(day), dayofyear(day)
weekofyear(day)
year(at), month(z), dayofweek(at), weekofyear(z), hour(at), minute(at), second(at), hour(z), minute(z), second(z)
hour(day)
extract(YEAR FROM at), extract(DAYOFWEEK FROM day), extract(WEEK FROM day), extract(HOUR FROM at)
extract(DOY FROM day)
last_day(day), date_add(day, -3), date_sub(day, -3), dateadd(day2, 0), date_add(at, -k - 9), datediff(day, day2)
date_diff(day2, day), datediff(at, day)
add_months(day, -1), add_months(day, -k - 13), add_months(day, -12), day - 1, day - 40, to_date(at), to_date(z)
unix_date(day), date_from_unix_date(k), make_date(2024, 2, 29), make_date(1900 + p % 7, 3, 31), unix_timestamp(z)
unix_timestamp(at), to_unix_timestamp(z)
trunc(day, 'YYYY'), trunc(day, 'month'), trunc(day, 'quarter'), trunc(day, 'week'), trunc(at, 'mm')
trunc(day, 'year')
date_trunc('year', at), date_trunc('month', z), date_trunc('week', z), date_trunc('day', at), date_trunc('hour', z)
date_trunc('minute', at)
date_trunc('quarter', day), date_trunc('second', z), date_trunc('millisecond', at), date_trunc('microsecond', z)
date_format(at, 'yyyy-MM-dd HH:mm:ss'), date_format(day, 'yyyyMMdd'), date_format(z, 'dd/MM/yy')
date_format(at, 'EEEE, dd MMMM yyyy'), date_format(z, 'E HH'), date_format(at, "yyyy-MM-dd'T'HH:mm:ss.SSS")
date_format(at, 'SSSSSS')
from_unixtime(n), timestamp_seconds(k), from_unixtime(k)
to_date('2024-02-29'), to_date('29/02/2024', 'dd/MM/yyyy'), to_date('20240229', 'yyyyMMdd')
to_timestamp('2024-02-29 01:02:03')
to_date(date_format(day, 'yyyyMMdd'), 'yyyyMMdd'), to_date(CAST(day AS STRING))
day - INTERVAL 3 DAY, at - INTERVAL 3 HOURS, z - INTERVAL 2 MINUTES, at - INTERVAL '10' SECOND
at - INTERVAL 1 MONTH, z - INTERVAL 2 DAYS
greatest(n, k), least(n, k, p), greatest(f, g), least(f, g), greatest(s, t), least(day, day2), greatest(m, 0)
least(m, w)
nvl(s, t), ifnull(k, n), nvl2(s, 1, 2), coalesce(f, k), nullif(k, n), isnull(s), isnotnull(s), equal_null(k, n)
zeroifnull(k), nullifzero(k)
if(yes, n, k), CASE WHEN k > 2 THEN f WHEN yes THEN k END, CASE k WHEN 1 THEN 'a' WHEN 2 THEN s END
CAST(n AS BIGINT), CAST(p AS INT), CAST(k AS DOUBLE), CAST(b AS DOUBLE), CAST(n AS STRING), CAST(k AS BOOLEAN)
CAST(yes AS INT), CAST(yes AS STRING)
CAST(m AS STRING), CAST(w AS STRING), CAST(v AS STRING), CAST(m AS DOUBLE), CAST(w AS DOUBLE), CAST(v AS DOUBLE)
CAST(m AS INT)
CAST(w / 1000 AS DECIMAL(38, 3)), CAST(m AS DECIMAL(9, 1)), CAST(k AS DECIMAL(3, 1)), CAST(v AS DECIMAL(38, 2))
CAST(day AS STRING), CAST(at AS STRING), CAST(z AS STRING), CAST(day AS TIMESTAMP), CAST(day AS TIMESTAMP_NTZ)
CAST(at AS DATE), CAST(z AS DATE)
CAST(at AS TIMESTAMP), CAST(z AS TIMESTAMP_NTZ), CAST(s AS BINARY), CAST(bin AS STRING)
CAST(CAST(n AS STRING) AS INT), CAST(CAST(b AS STRING) AS BIGINT), CAST(CAST(m AS STRING) AS DECIMAL(10, 2))
CAST(CAST(v AS STRING) AS DOUBLE)
CAST(CAST(m AS STRING) AS DECIMAL(9, 1)), CAST(CAST(day AS STRING) AS DATE)
CAST(CAST(at AS STRING) AS TIMESTAMP_NTZ), CAST(CAST(z AS STRING) AS TIMESTAMP)
CAST(CASE WHEN abs(f) < 1000 THEN f END AS INT), CAST(CASE WHEN abs(f) < 1000 THEN f END AS BIGINT)
CAST(CASE WHEN abs(f) < 1000 THEN f END AS DECIMAL(10, 2))
CAST(CASE WHEN abs(f) < 1e16 THEN f END AS DECIMAL(30, 8)), CAST(CASE WHEN abs(g) < 100 THEN g END AS TINYINT)
try_cast(n AS SMALLINT), try_cast(b AS INT), try_cast(f AS INT), try_cast(f AS BIGINT), try_cast(m AS TINYINT)
try_cast(w AS DECIMAL(12, 3)), try_cast(v AS BIGINT), try_cast(r AS SMALLINT), try_cast(k AS STRING)
try_cast(s AS INT), try_cast(t AS BIGINT), try_cast(s AS BOOLEAN), try_cast(CAST(n AS STRING) AS SMALLINT)
try_cast(CASE WHEN abs(f) < 1e16 THEN f END AS DECIMAL(10, 2)), try_cast(CAST(b AS STRING) AS DECIMAL(12, 2))
size(ai), cardinality(ai), size(map), array_size(at2), array_contains(ai, 1), array_contains(ai, k)
array_contains(at2, 'a'), array_position(ai, 2)
array_max(ai), array_min(ai), array_max(at2), array_max(af), array_min(af), sort_array(ai), sort_array(at2)
array_sort(ai), sort_array(af)
reverse(ai), slice(ai, 1, 2), slice(at2, 2, 5), slice(ai, 3, 0), map_contains_key(map, 'a'), map_keys(map)
map_values(map), element_at(map, 'a')
element_at(array_sort(ai), CASE WHEN size(ai) > 0 THEN 1 END), element_at(ai, CASE WHEN size(ai) > 0 THEN -1 END)
map['b']
rows.x, rows.y, size(rows.x)
array_distinct(ai), array_distinct(at2), array_join(at2, '-'), array_compact(ai), flatten(array(ai, ai)), get(ai, 1)
get(ai, k), try_element_at(ai, 2), try_element_at(ai, nullif(k, 0)), try_element_at(map, 'a'), ai[0] IS NULL AND false
map_entries(map), map_from_entries(map_entries(map)), map_concat(map, map('zz', 1)), map('q', k), array(n, k, NULL)
array(m, k), array(s, t), array(f, g), array(array(k), array()), named_struct('A', k, 'b', s).b, struct(n AS q, s).q
map_from_arrays(array(1, 2), array(s, t)), arrays_zip(ai, at2), sequence(k, 3), sequence(id, id + 3), sequence(k, 20, 7)
sequence(DATE '2024-02-27', DATE '2024-03-10', INTERVAL 1 WEEK), transform(ai, x -> x * k), filter(ai, x -> x > 1)
exists(ai, x -> x > 1), forall(ai, x -> x > 1), transform(at2, x -> concat(x, s)), transform(rows, r -> r.x + 1)
zip_with(ai, at2, (x, y) -> concat(CAST(x AS STRING), y)), map_filter(map, (kk, vv) -> vv > k OR kk = 'a')
transform_values(map, (kk, vv) -> vv * k), transform_keys(map, (kk, vv) -> concat(kk, 'ö'))
transform(ai, x -> exists(filter(ai, x -> x > 1), y -> y = x)), zip_with(ai, ai, (x, y) -> exists(ai, x -> x = y))
unix_micros(z), unix_millis(z), timestamp_millis(n), timestamp_micros(n), extract(YEAROFWEEK FROM day)
make_timestamp_ntz(2024, 2, 29, 23, 59, 58)
CAST(CAST((at - TIMESTAMP_NTZ '1970-01-01') AS INTERVAL SECOND) AS DECIMAL(20, 6))
filter(rows, r -> r.y LIKE 'a%').x, transform(ai, x -> array(x, k)), exists(filter(ai, x -> x > k), id -> id = 3)
regexp_extract_all(s, '(a)(b)?', 2), regexp_extract_all(s, '[a-z]+', 0), regexp_count(s, 'a'), sha2(s, 256)
regexp_replace(s, '(a)(b)?', '<$2$1>'), encode(s, 'utf-8'), unhex(hex(s)), sha2(bin, 0), CAST(12 AS STRING)
s LIKE 'a!%%' ESCAPE '!', t LIKE '%\\\\_%' ESCAPE '\\\\', substring(s, -3), substring(s, CAST(2 AS INT), 1)
split(s, '\\\\Q,\\\\E', -1), regexp_extract(s, '(?d)a.', 0), s RLIKE '(?d).$', s RLIKE '[a+-]', k IS DISTINCT FROM n
f = g, f < g, f > 1, day < day2, s < t, m > w, k = m, at > day, z > '2000-01-01 00:00:00', f IS NULL
array_union(ai, ai), array_union(at2, array(s, t)), array_except(ai, array(1, k)), array_intersect(ai, array(1, k))
array_except(at2, array(NULL, t)), arrays_overlap(ai, array(1, k)), arrays_overlap(at2, array(s)), array_append(ai, k)
array_prepend(ai, 1), array_append(at2, NULL), array_remove(ai, 2), array_remove(at2, t), array_remove(ai, k)
array_repeat(s, k), array_repeat(k, 2), array_repeat(ai, 2), arrays_overlap(array(k), array(n)), array_prepend(at2, s)
chr(k), char(n), chr(b), chr(233), dayname(day), monthname(at), dayname(z), to_timestamp_ntz('2024-02-29 01:02:03')
to_timestamp_ntz('20240229', 'yyyyMMdd'), to_timestamp_ntz('2024-2-9 7:05', 'y-M-d H:mm')
to_timestamp_ntz(date_format(at, 'yyyy/MM/dd HH:mm:ss'), 'yyyy/MM/dd HH:mm:ss'), date_format(at, 'd.M.yyyy H:m:s')
at + make_dt_interval(k), at + make_dt_interval(1, k, 3, CAST(k AS DECIMAL(18, 6))), at + make_dt_interval(0, 0, 0, 61)
at + make_dt_interval(0, 0, k, CAST(w / 10000000000 AS DECIMAL(18, 6))), at + make_ym_interval(0, -13)
date_part('year', at), date_part('DOW', day), negative(k), positive(f), substring(s, k), substring(s, k, 2)
substring(s, 0), substring(t, -2, 1), substring(t, k, k), substr(s, p % 9, 3), substring(s, -9, 8), substring(t, 0, 2)
aggregate(ai, 0, (a, x) -> a + coalesce(x, 0)), reduce(ai, 0L, (a, x) -> a + x, a -> a * 2)
reduce(af, 0D, (a, x) -> a + x), aggregate(at2, '', (a, x) -> concat(a, coalesce(x, '-')))
aggregate(rows, k, (a, r) -> greatest(a, r.x), a -> coalesce(a, 7))
s RLIKE '(?i)A', regexp_extract(s, '(?i)[B-D]+', 0), s RLIKE '(?iu)^[i-k]', t RLIKE '(?iu)is', s RLIKE '(?i)[^a-c,]'
regexp_replace(s, '(?id)AB', '-'), CAST('inf' AS DOUBLE), CAST(' -Infinity' AS DOUBLE), CAST('NaN' AS DOUBLE)
concat(chr(305), 'i') RLIKE '(?iu)^[h-j]', '\u0130\u0131' RLIKE '(?iu)^ii$', '\u212a' RLIKE '(?iu)k'
'\u017f' RLIKE '(?i)s', '\u017f' RLIKE '(?iu)s', '\u212a' RLIKE '(?i)K', 'Mix' RLIKE '(?i)^[a-m]+X$'
split(s, '[,;]'), split(s, '(?d)\\\\s+', -1), split(t, '(a|b)')
split(s, '[0-9]{2}'), split(t, '[^a-z]'), split('', '[,;]')
split_part(t, 'Ελ', 1) ILIKE 'A%', split_part(t, 'Ελ', 1) ILIKE '%B'
""".strip().splitlines()
"""Lists of expressions."""

CLOSE_CALLS = """
exp(f), exp(k), exp(m), exp(r), ln(f), ln(k), ln(m), log(f), log(2, f), log(k, g), log(0.5D, k), log10(f), log10(k)
log2(f), log2(k), power(f, 2), power(k, k), pow(f, g), power(m, 0.5), pow(k, f), cbrt(f), cbrt(k), cbrt(w)
sin(f), cos(g), tan(f), cot(k), cot(f), asin(f), acos(f), atan(f), atan2(f, g), atan2(k, 0), sinh(k), cosh(k), tanh(f)
degrees(f), degrees(k), radians(f), radians(m)
""".strip().splitlines()
"""Lists of expressions whose last digits Java and C may round apart."""
