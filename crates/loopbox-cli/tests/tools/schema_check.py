"""Validates JSON files against a published schema: SCHEMA[#/$defs/NAME] FILE...

With --strict before the schema, nothing may be in the files that the schema does not name: it is then one of ours, which
others may extend, and we may not forget to write down what we add.
"""
import json
import sys

import jsonschema


def close(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            schema["additionalProperties"] = False
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


arguments = sys.argv[1:]
strict = arguments[0] == "--strict"
path, _, part = arguments[strict].partition("#/$defs/")
schema = json.load(open(path))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
if strict:
    close(schema)
if part:
    schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
for file in arguments[strict + 1:]:
    errors = sorted(validator(schema).iter_errors(json.load(open(file))), key=lambda e: e.json_path)
    assert not errors, f"{file}: " + "; ".join(f"{e.json_path}: {e.message[:200]}" for e in errors[:5])
print(len(arguments) - strict - 1, "valid")
