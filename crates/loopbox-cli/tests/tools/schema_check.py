"""Validates JSON files against a published schema: SCHEMA[#/$defs/NAME] FILE..."""
import json
import sys

import jsonschema


arguments = sys.argv[1:]
path, _, part = arguments[0].partition("#/$defs/")
schema = json.load(open(path))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
if part:
    schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
for file in arguments[1:]:
    errors = sorted(validator(schema).iter_errors(json.load(open(file))), key=lambda e: e.json_path)
    assert not errors, f"{file}: " + "; ".join(f"{e.json_path}: {e.message[:200]}" for e in errors[:5])
print(len(arguments) - 1, "valid")
