"""Runs the merges of docs/fleet.md in DuckDB and in a Delta table, each twice: PAGE FIRST FRESH FOLDER.

The tables begin with the rows of FIRST. Printed as JSON: the rows of both afterwards, and how many a reader of the lake's files has.
"""
import json
import os
import re
import sys

import deltalake
import duckdb

page, first, fresh, folder = open(sys.argv[1]).read(), *sys.argv[2:]
(merge,) = re.findall(r"```sql\n(MERGE .*?)```", page, re.S)
(python,) = re.findall(r"```python\n(.*?)```", page, re.S)
lake = os.path.join(folder, "lake")
merge, python = merge.replace("day.parquet", fresh), python.replace("day.parquet", fresh).replace('"reports"', f'"{lake}"')
assert fresh in merge and fresh in python and lake in python

duckdb.sql("SET TimeZone = 'UTC'")
duckdb.sql(f"CREATE TABLE reports AS FROM '{first}'")
deltalake.write_deltalake(lake, duckdb.sql(f"FROM '{first}'"))
for _ in range(2):
    duckdb.sql(merge)
    exec(python, {"duckdb": duckdb, "deltalake": deltalake})


def rows(table):
    columns = "report_id, frames, exit_reason, path, CAST(dumped_at AS VARCHAR) AS dumped_at"
    result = duckdb.sql(f"SELECT {columns} FROM {table} ORDER BY report_id")
    return [dict(zip(result.columns, row)) for row in result.fetchall()]


files = deltalake.DeltaTable(lake).file_uris()
print(json.dumps({"duckdb": rows("reports"), "delta": rows(f"read_parquet({files})")}))
