"""Validates a file against speedscope's published JSON schema."""
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(json.load(open(sys.argv[2])))
print(len(schema["definitions"]), "definitions, valid")
