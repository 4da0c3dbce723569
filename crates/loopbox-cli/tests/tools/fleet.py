"""Runs the queries of docs/fleet.md in DuckDB and in Spark on the same rows, and prints both answers as JSON: PAGE TABLE SCREENS STALLS FOLDER ROWS.

The reports are the rows of an exported table, many times over, with users, days, versions, devices and causes that differ:
three versions of which each newer one has twenty problems more, and five of 97 models whose reports are often starved. So are screens
and stalls, of which there are ROWS at most 20000: the newest version's feed has three times as many hitches.
"""
import json
import os
import re
import sys
import time

import duckdb
from pyspark.sql import SparkSession

page, table, screens, stalls, folder, count = open(sys.argv[1]).read(), *sys.argv[2:6], int(sys.argv[6])
# The second is of a table that changes: late_rows.py runs it.
keep, _, *queries = [query.strip().rstrip(";") for query in re.findall(r"```sql\n(.*?)```", page, re.S)]
day, fleet, times = os.path.join(folder, "day.parquet"), os.path.join(folder, "fleet"), {}


def timed(what, work):
    start = time.monotonic()
    result = work()
    times[what] = round(time.monotonic() - start, 1)
    return result


def rows(names, values):
    return [{name: round(value, 6) if isinstance(value, float) else value for name, value in zip(names, row)} for row in values]


# Both numbers are prime, so that no two properties go together by accident.
make = f"""
COPY (
  SELECT t.* EXCLUDE (nth, many) REPLACE (
    path || '-' || c AS path, dumped_at - INTERVAL 1 DAY * (n % 14) AS dumped_at,
    'user ' || (n * 7919 % 400009) AS "user", 'model ' || lpad(CAST(n % 97 AS VARCHAR), 2, '0') AS device, 26 + n % 11 AS api_level,
    CASE WHEN n % 97 < 5 AND n % 2 = 0 THEN 'starved' ELSE 'current-slow' END AS cause, 50000 + 100 * (n % 3) AS app_version_code,
    'group ' || ((n // 3) % (40 + 20 * (n % 3))) AS group_id, CASE WHEN n % 5 = 0 THEN 'confirmed' ELSE 'hang' END AS anr
  )
  FROM (SELECT *, row_number() OVER (ORDER BY path) - 1 AS nth, count(*) OVER () AS many FROM '{table}') t
  JOIN (SELECT range AS c, range * 48271 % 1000003 AS n FROM range({count})) ON nth = c % many
) TO '{day}' (FORMAT parquet)"""


def many(table, changes, to):
    """The rows of a table many times over, of other users, models and versions."""
    return f"""
COPY (
  SELECT t.* EXCLUDE (nth, many) REPLACE (
    'user ' || (n * 7919 % 4001) AS "user", 'model ' || lpad(CAST(n % 97 AS VARCHAR), 2, '0') AS device, 26 + n % 11 AS api_level,
    50000 + 100 * (n % 3) AS app_version_code, {changes}
  )
  FROM (SELECT *, row_number() OVER () - 1 AS nth, count(*) OVER () AS many FROM '{table}') t
  JOIN (SELECT range AS c, range * 48271 % 1000003 AS n FROM range({min(count, 20000)})) ON nth = c % many
) TO '{to}' (FORMAT parquet)"""


tables = {name: os.path.join(folder, f"{name}.parquet") for name in ("screens", "stalls")}
worse = "CASE WHEN n % 3 = 2 AND screen = 'Feed' THEN 3 * scroll_hitch_ms ELSE scroll_hitch_ms END AS scroll_hitch_ms"
rate = "CASE WHEN n % 2 = 0 THEN 119.98 ELSE refresh_hz END AS refresh_hz"
level = "1 + n % 2 AS level"
active = """
CREATE TEMPORARY VIEW active AS
SELECT * FROM (VALUES (50000, 150000), (50100, 100000), (50200, 40000)) AS t(app_version_code, users)"""

duckdb.sql("SET TimeZone = 'UTC'")
timed("made", lambda: duckdb.sql(make))
timed("kept by day and version", lambda: duckdb.sql(keep.replace("'day.parquet'", f"'{day}'").replace("'fleet'", f"'{fleet}'")))
duckdb.sql(f"CREATE VIEW reports AS SELECT * FROM read_parquet('{fleet}/**/*.parquet', hive_partitioning = true)")
for name, source, changes in (("screens", screens, f"{worse}, {rate}"), ("stalls", stalls, level)):
    timed(f"made {name}", lambda: duckdb.sql(many(source, changes, tables[name])))
    duckdb.sql(f"CREATE VIEW {name} AS SELECT * FROM '{tables[name]}'")
duckdb.sql(active)


def in_duckdb():
    results = [duckdb.sql(query) for query in queries]
    return [rows(result.columns, result.fetchall()) for result in results]


answers = {"duckdb": timed("DuckDB", in_duckdb)}
reports = duckdb.sql("SELECT count(*) FROM reports").fetchall()[0][0]

settings = {
    "spark.ui.enabled": "false", "spark.sql.ansi.enabled": "true", "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "4", "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.local.dir": folder,
    "spark.sql.warehouse.dir": folder,
}
if count <= 20000:
    # Seconds of work: with the JVM's quick compiler alone it takes half of the processor.
    settings["spark.driver.extraJavaOptions"] = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = timed("Spark starts", builder.getOrCreate)
spark.read.parquet(fleet).createOrReplaceTempView("reports")
for name, path in tables.items():
    spark.read.parquet(path).createOrReplaceTempView(name)
spark.sql(active)


def in_spark():
    results = [spark.sql(query) for query in queries]
    return [rows(result.columns, [tuple(row) for row in result.collect()]) for result in results]


answers["spark"] = timed("Spark", in_spark)
spark.stop()
days = [name for name in os.listdir(fleet) if name.startswith("day=")]
size = sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(fleet) for name in names)
print(json.dumps({"answers": answers, "reports": reports, "days": len(days), "bytes": size, "times": times}))
