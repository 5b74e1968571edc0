# SPDX-License-Identifier: Apache-2.0
# schemas.py DIR SCHEMA FILE...: every JSON value of the files (one, or one a line) is valid by DIR/SCHEMA.json.
# Without SCHEMA: the schemas themselves are valid, and every property in them is described or refers to what is.
import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator as Validator, RefResolver


def values(path):
    text = Path(path).read_text()
    return [json.loads(text)] if path.endswith(".json") else [json.loads(line) for line in text.splitlines()]


def report(where, errors):
    for error in errors:
        print(f"{where}: {error.json_path}: {error.message[:500]}")
    return len(errors)


folder, *rest = sys.argv[1:]
schemas = {p.name: json.loads(p.read_text()) for p in sorted(Path(folder).glob("*.json"))}
failures = 0
if rest:
    schema = schemas[rest[0] + ".json"]
    validator = Validator(schema, resolver=RefResolver("", schema, store=schemas))
    for path in rest[1:]:
        for number, value in enumerate(values(path), 1):
            failures += report(f"{path}:{number}", list(validator.iter_errors(value)))
else:
    for name, schema in schemas.items():
        Validator.check_schema(schema)
        if schema["$id"] != name:
            failures += 1
            print(f"{name}: its $id is {schema['$id']}")
sys.exit(failures > 0)
