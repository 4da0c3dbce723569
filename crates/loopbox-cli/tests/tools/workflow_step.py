"""Prints the script of a step of a GitHub workflow: FILE JOB STEP."""
import sys

import yaml

file, job, name = sys.argv[1:]
steps = yaml.safe_load(open(file))["jobs"][job]["steps"]
(step,) = [step for step in steps if step.get("name") == name]
missing = [value for value in step["env"].values() if not value.startswith("${{ inputs.")]
assert not missing, missing
print(step["run"], end="")
