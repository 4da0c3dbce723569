"""Runs the SQL blocks of a Markdown page on a Parquet file with DuckDB and prints their rows as JSON."""
import json
import re
import sys

import duckdb

page, table = open(sys.argv[1]).read(), sys.argv[2]
answers = []
for query in re.findall(r"```sql\n(.*?)```", page, re.S):
    assert "'reports.parquet'" in query
    result = duckdb.sql(query.replace("'reports.parquet'", f"'{table}'"))
    answers.append([dict(zip(result.columns, row)) for row in result.fetchall()])
types = {row[0]: row[1] for row in duckdb.sql(f"DESCRIBE SELECT * FROM '{table}'").fetchall()}
print(json.dumps({"answers": answers, "types": types}))
