# SPDX-License-Identifier: GPL-2.0-only
"""Validate JSON with the part of JSON Schema that the tools' schemas use.

json_schema.py FIELDS FILE...: print one line per violation; exit with 1 if there are any.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "packaging"))

import make_schema  # noqa: E402

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


#: Checks by keyword; a value of the wrong type gets no further checks.
RULES: dict[str, Callable[[Any, Any], object]] = {
    "type": lambda value, names: any(
        isinstance(value, TYPES[name]) and isinstance(value, bool) <= (name == "boolean")
        for name in ([names] if isinstance(names, str) else names)),
    "enum": lambda value, words: value in words,
    "const": lambda value, right: value == right,
    "pattern": lambda value, pattern: re.search(pattern, value),
    "minimum": lambda value, least: value >= least,
    "maximum": lambda value, most: value <= most,
    "minItems": lambda value, least: len(value) >= least,
    "maxItems": lambda value, most: len(value) <= most,
    "minProperties": lambda value, least: len(value) >= least,
    "required": lambda value, keys: set(keys) <= set(value),
}


class Checker:
    """Validates a document against a schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def find_errors(self, document: Any) -> list[str]:
        """Return one line per violation; none if the document is valid."""
        return self._check_schema_value(self.schema, document, "$")

    def _check_schema_value(self, schema: dict[str, Any], value: Any, where: str) -> list[str]:
        if "$ref" in schema:
            node: Any = self.schema
            for step in schema["$ref"].removeprefix("#/").split("/"):
                node = node[step]
            return self._check_schema_value(node, value, where)
        found: list[str] = []
        for keyword, rule in schema.items():
            if keyword in RULES:
                if not RULES[keyword](value, rule):
                    found.append(f"{where}: {str(value)[:80]} breaks {keyword} {rule}")
                    if keyword == "type":
                        break
            elif keyword not in ("$schema", "$defs", "title"):
                found += self._check_schema_parts(schema, keyword, value, where)
        return found

    def _check_schema_parts(self, schema: dict[str, Any], keyword: str, value: Any,
                            where: str) -> list[str]:
        rule = schema[keyword]
        if keyword == "oneOf":
            each = [self._check_schema_value(one, value, where) for one in rule]
            fitting = each.count([])
            return [f"{where}: fits {fitting} of {rule}"] if fitting > 1 else min(each, key=len)
        if keyword == "properties":
            parts = [(rule[key], value[key], key) for key in rule if key in value]
        elif keyword == "additionalProperties":
            others = [key for key in value if key not in schema.get("properties", {})]
            if rule is False:
                return [f"{where}: unexpected {key}" for key in others]
            parts = [(rule, value[key], key) for key in others]
        elif keyword == "propertyNames":
            parts = [(rule, key, key) for key in value]
        elif keyword == "items":
            parts = [(rule, one, str(at)) for at, one in enumerate(value)]
        else:
            raise NotImplementedError(keyword)
        return [line for one, part, name in parts
                for line in self._check_schema_value(one, part, f"{where}.{name}")]


@cache
def make_schema_checker(fields: str) -> Checker:
    """Return the checker of the schema of a .fields file, named by its path in the tree."""
    return Checker(make_schema.load_schema(TOP / fields))


#: Keys whose values repeat a user's text: words of a command line, values of a parameter, of a
#: study's axis or of a trial.
AS_WRITTEN = {"argv", "labels", "profile", "value", "values", "smallest", "largest", "stored_unit",
              "op"}
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e-?\d+)? ?[a-zA-Z%]{0,3}")


def find_number_strings(value: Any, where: str) -> list[str]:
    """Return JSON strings that are a number with a unit, which should be a number instead."""
    if isinstance(value, dict):
        return [line for key, one in value.items() if key not in AS_WRITTEN
                for line in find_number_strings(one, f"{where}.{key}")]
    if isinstance(value, list):
        return [line for one in value for line in find_number_strings(one, f"{where}[]")]
    text = isinstance(value, str) and NUMBER.fullmatch(value)
    return [f"{where}: {value!r} is a number as text"] if text else []


def parse_document(schema: str, text: str) -> dict[str, Any]:
    """Parse a document; assert that it matches its schema and has no numbers as text."""
    document: dict[str, Any] = json.loads(text)
    found = make_schema_checker(schema).find_errors(document) + find_number_strings(document, "$")
    assert not found, found
    return document


def main(schema: str, files: list[str]) -> int:
    """Print each violation of a schema by the JSON documents of the command line."""
    found = [f"{file}: {line}" for file in files
             for line in make_schema_checker(schema).find_errors(
        json.loads(Path(file).read_text()))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
