# SPDX-License-Identifier: GPL-2.0-only
"""The part of JSON Schema that the tools' own schemas use.

json_schema.py SCHEMA FILE...: one line for each finding; exits with 1 when there are any.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


class Checker:
    """Collects what is wrong with a document."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def errors(self, document: Any) -> list[str]:
        """Return one line for each finding; none if the document is valid."""
        return list(self._check(self.schema, document, "$"))

    def _check(self, schema: dict[str, Any], value: Any, where: str) -> list[str]:
        if "$ref" in schema:
            return self._check(self._resolve(schema["$ref"]), value, where)
        found: list[str] = []
        for keyword, argument in schema.items():
            method = getattr(self, "_" + keyword.replace("$", "").lower(), None)
            if keyword in ("$schema", "$defs", "title"):
                continue
            if method is None:
                raise NotImplementedError(keyword)
            found += method(schema, argument, value, where)
            if found and keyword == "type":
                break
        return found

    def _resolve(self, reference: str) -> dict[str, Any]:
        node: Any = self.schema
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]
        result: dict[str, Any] = node
        return result

    def _type(self, _schema: dict[str, Any], names: Any, value: Any, where: str) -> list[str]:
        for name in [names] if isinstance(names, str) else names:
            if isinstance(value, TYPES[name]) and (isinstance(value, bool) <= (name == "boolean")):
                return []
        return [f"{where}: {value!r} is not of type {names}"]

    def _properties(
        self, _schema: dict[str, Any], properties: Any, value: Any, where: str
    ) -> list[str]:
        found: list[str] = []
        for key, schema in properties.items():
            if key in value:
                found += self._check(schema, value[key], f"{where}.{key}")
        return found

    def _additionalproperties(
        self, schema: dict[str, Any], rule: Any, value: Any, where: str
    ) -> list[str]:
        others = [key for key in value if key not in schema.get("properties", {})]
        if rule is False:
            return [f"{where}: unexpected {key}" for key in others]
        return [line for key in others for line in self._check(rule, value[key], f"{where}.{key}")]

    def _required(self, _schema: dict[str, Any], keys: Any, value: Any, where: str) -> list[str]:
        return [f"{where}: {key} is missing" for key in keys if key not in value]

    def _propertynames(
        self, _schema: dict[str, Any], rule: Any, value: Any, where: str
    ) -> list[str]:
        return [line for key in value for line in self._check(rule, key, f"{where} key")]

    def _items(self, _schema: dict[str, Any], rule: Any, value: Any, where: str) -> list[str]:
        return [line for i, v in enumerate(value) for line in self._check(rule, v, f"{where}[{i}]")]

    def _oneof(self, _schema: dict[str, Any], rules: Any, value: Any, where: str) -> list[str]:
        each = [self._check(rule, value, where) for rule in rules]
        fitting = each.count([])
        if fitting > 1:
            return [f"{where}: fits {fitting} of {rules}"]
        return min(each, key=len) if not fitting else []

    def _enum(self, _schema: dict[str, Any], words: Any, value: Any, where: str) -> list[str]:
        return [] if value in words else [f"{where}: {value!r} is not one of {words}"]

    def _const(self, _schema: dict[str, Any], right: Any, value: Any, where: str) -> list[str]:
        return [] if value == right else [f"{where}: {value!r} is not {right!r}"]

    def _pattern(self, _schema: dict[str, Any], pattern: Any, value: Any, where: str) -> list[str]:
        return [] if re.search(pattern, value) else [f"{where}: {value!r} is not like {pattern}"]

    def _minimum(self, _schema: dict[str, Any], least: Any, value: Any, where: str) -> list[str]:
        return [] if value >= least else [f"{where}: {value} is less than {least}"]

    def _maximum(self, _schema: dict[str, Any], most: Any, value: Any, where: str) -> list[str]:
        return [] if value <= most else [f"{where}: {value!r} is above {most}"]

    def _minitems(self, _schema: dict[str, Any], least: Any, value: Any, where: str) -> list[str]:
        return [] if len(value) >= least else [f"{where}: fewer than {least} items"]

    def _maxitems(self, _schema: dict[str, Any], most: Any, value: Any, where: str) -> list[str]:
        return [] if len(value) <= most else [f"{where}: more than {most} items"]

    def _minproperties(
        self, _schema: dict[str, Any], least: Any, value: Any, where: str
    ) -> list[str]:
        return [] if len(value) >= least else [f"{where}: fewer than {least} keys"]


@cache
def checker(schema: str) -> Checker:
    """Return the checker of a schema, named by its path in the tree."""
    return Checker(json.loads((TOP / schema).read_text()))


#: What is repeated as somebody has written it: words of a command line, values of a parameter, or
#: of a study's axis or of one trial.
AS_WRITTEN = {"argv", "labels", "profile", "value", "values", "smallest", "largest", "stored_unit",
              "op"}
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e-?\d+)? ?[a-zA-Z%]{0,3}")


def numbers_as_text(value: Any, where: str) -> list[str]:
    """Return what should be a number, with its unit in the key."""
    if isinstance(value, dict):
        return [line for key, one in value.items() if key not in AS_WRITTEN
                for line in numbers_as_text(one, f"{where}.{key}")]
    if isinstance(value, list):
        return [line for one in value for line in numbers_as_text(one, f"{where}[]")]
    text = isinstance(value, str) and NUMBER.fullmatch(value)
    return [f"{where}: {value!r} is a number as text"] if text else []


def document_of(schema: str, text: str) -> dict[str, Any]:
    """Return a document that must be as its schema has it, and whose numbers are no texts."""
    document: dict[str, Any] = json.loads(text)
    found = checker(schema).errors(document) + numbers_as_text(document, "$")
    assert not found, found
    return document


def main(schema: str, files: list[str]) -> int:
    """Print what is wrong with the documents in files."""
    found = [f"{file}: {line}" for file in files
             for line in checker(schema).errors(json.loads(Path(file).read_text()))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
