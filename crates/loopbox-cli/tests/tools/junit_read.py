"""Prints the tests of a JUnit file as JSON, as a reader of CI systems understands them."""
import json
import sys

import junitparser

xml = junitparser.JUnitXml.fromfile(sys.argv[1])
suites = list(xml)
assert [suite.tests for suite in suites] == [len(list(suite)) for suite in suites]
results = {case.name: [type(result).__name__ for result in case.result] for suite in suites for case in suite}
print(json.dumps({"tests": xml.tests, "failures": xml.failures, "skipped": xml.skipped, "results": results}))
