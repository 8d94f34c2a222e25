# SPDX-License-Identifier: GPL-2.0-only
"""Write the JSON schema of a tool's output from a .fields file.

make_schema.py FIELDS OUT

A .fields file defines types, one `name = TYPE` each; `document` is the type of the output:

    title "Output of approxftl sim --json"
    document = { ...envelope, seed: count, runs: [run](1..) }
    run = { policy: text, read, write: timing, note?: text | null }

`#` begins a comment. Fields are separated by a comma or a newline; a field with `?` may be absent.
TYPE is one of:

    count, amount            an integer, a number; not negative
    integer, number          any, or with bounds: integer(1..255), number(0..)
    text, flag, null         text with a pattern: text(/^[a-z]+$/)
    "word", 5, true          exactly this
    [TYPE], [TYPE](1..20)    an array, with the bounds of its length
    { FIELDS }               an object with these keys and no others
    { *: TYPE }              an object with any keys; * /PATTERN/ or * "word" | "word" limits them,
                             *(2..) says how many there are at least
    A | B                    one of them
    name                     a definition; `...name` inserts the fields of one
    @"FILE" /PATTERN/: TYPE  a field for each match of the pattern in a source file of the tree
"""

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]

Schema = dict[str, Any]

TOKEN = re.compile(r"""(?:[ \t]|\#.*)* (?:
    (?P<string>"[^"]*") | /(?P<pattern>[^/\n]*)/ | (?P<number>-?\d+) | (?P<name>[A-Za-z]\w*) |
    (?P<mark>\.\.\.?|[][{}()=:,?|*@]|\n) | (?P<end>\Z))""", re.X)

SIMPLE: dict[str, Schema] = {
    "count": {"type": "integer", "minimum": 0},
    "amount": {"type": "number", "minimum": 0},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "null": {"type": "null"},
}

#: Definitions that every file may use.
COMMON = r"""
envelope = { approxftl_json_format: json_format, tool: tool }
tool = { version: text, argv: [text](2..) }
# A number whose unit is in its key, a word, or weights.
parameter_value = amount | text(/^[a-z]/) | [integer(1..)]
token = text(/^[^ \n]+$/)
# A list, reduced to the columns that --columns selects.
chosen_rows = { ...envelope, rows: [row] }
row = { *(1..) /^[a-z][a-z0-9_]*$/: text | number | flag | null }
placement_handles = [{
    host_units, media_units, erased_units, changed_blocks, partial_blocks, reallocated_units,
        reallocated_events: count
}](..16)
"""
FORMAT: Schema = {"const": [1, 0]}


class Parser:
    """Parser of the definitions of a .fields file; load_schema() resolves references among them."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text):
            found = TOKEN.match(text, at)
            if not found or not found.lastgroup:
                raise ValueError(f"unknown text at {text[at:at + 40]!r}")
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            at = max(found.end(), at + 1)
        self.tokens.append(("end", ""))
        self.definitions: dict[str, Schema] = {}
        self.title = ""
        while self.peek_token()[0] != "end":
            self.parse_definition()

    def peek_token(self) -> tuple[str, str]:
        return self.tokens[0]

    def skip_next_token_if_mark(self, *marks: str) -> bool:
        """Skip the next token if it is one of the punctuation marks `marks`; return True if so."""
        if self.peek_token()[0] == "mark" and self.peek_token()[1] in marks:
            self.tokens.pop(0)
            return True
        return False

    def expect_token(self, kind: str, value: str = "") -> str:
        """Return the next token; it is an error if the token is of another kind."""
        token = self.tokens.pop(0)
        if token[0] != kind or value not in ("", token[1]):
            raise ValueError(f"{value or kind} expected, not {token[1]!r}")
        return token[1]

    def skip_newlines(self) -> None:
        while self.skip_next_token_if_mark("\n"):
            pass

    def parse_definition(self) -> None:
        """Parse the title of the schema, or one definition `name = TYPE`."""
        if self.skip_next_token_if_mark("\n"):
            return
        name = self.expect_token("name")
        if name == "title":
            self.title = " ".join(self.expect_token("string")[1:-1].split())
        else:
            self.expect_token("mark", "=")
            self.definitions[name] = self.parse_type()

    def parse_type(self) -> Schema:
        several = [self.parse_single_type()]
        while self.skip_next_token_if_mark("|"):
            self.skip_newlines()
            several.append(self.parse_single_type())
        if len(several) == 1:
            return several[0]
        if all(set(one) == {"const"} for one in several):
            return {"enum": [one["const"] for one in several]}
        if all(set(one) == {"type"} for one in several):
            return {"type": [one["type"] for one in several]}
        return {"oneOf": several}

    def parse_single_type(self) -> Schema:
        """Parse a type that has no `|` alternatives."""
        kind, value = self.peek_token()
        if kind in ("string", "number") or value in ("true", "false"):
            self.tokens.pop(0)
            return {"const": json.loads(value)}
        if self.skip_next_token_if_mark("{"):
            return self.parse_object()
        if self.skip_next_token_if_mark("["):
            items = self.parse_type()
            self.expect_token("mark", "]")
            bounds = self.parse_optional_range("minItems", "maxItems")
            return {"type": "array", "items": items} | bounds
        name = self.expect_token("name")
        if name not in SIMPLE:
            return {"$ref": name}
        if name == "text" and self.skip_next_token_if_mark("("):
            pattern = self.expect_token("pattern").replace("\\n", "\n")
            self.expect_token("mark", ")")
            return SIMPLE[name] | {"pattern": pattern}
        return SIMPLE[name] | self.parse_optional_range("minimum", "maximum")

    def parse_optional_range(self, least: str, most: str) -> Schema:
        """Parse an optional range (A..B), of which A or B may be left out."""
        found: Schema = {}
        if self.skip_next_token_if_mark("("):
            if self.peek_token()[0] == "number":
                found[least] = int(self.expect_token("number"))
            self.expect_token("mark", "..")
            if self.peek_token()[0] == "number":
                found[most] = int(self.expect_token("number"))
            self.expect_token("mark", ")")
        return found

    def parse_object(self) -> Schema:
        """Parse an object type up to its closing brace."""
        result: Schema = {"type": "object", "...": [], "properties": {}, "required": [],
                          "additionalProperties": False}
        while True:
            while self.skip_next_token_if_mark("\n", ","):
                pass
            if self.skip_next_token_if_mark("}"):
                return result
            if self.skip_next_token_if_mark("..."):
                # Fields keep their order: those before a spread go in front of it.
                result["..."].append((self.expect_token("name"), len(result["properties"])))
            elif self.skip_next_token_if_mark("*"):
                result |= self.parse_optional_range("minProperties", "maxProperties")
                if self.peek_token()[0] == "pattern":
                    result["propertyNames"] = {"pattern": self.expect_token("pattern")}
                elif self.peek_token()[0] == "string":
                    result["propertyNames"] = self.parse_type()
                self.expect_token("mark", ":")
                self.skip_newlines()
                result["additionalProperties"] = self.parse_type()
            else:
                self.parse_named_fields(result)

    def parse_named_fields(self, result: Schema) -> None:
        """Parse members of an object, such as `a, b?, c: TYPE`, where ? marks an optional one."""
        names: list[tuple[str, bool]] = []
        while True:
            self.skip_newlines()
            if self.skip_next_token_if_mark("@"):
                source = (TOP / self.expect_token("string")[1:-1]).read_text(encoding="utf-8")
                found = re.findall(self.expect_token("pattern"), source, re.M)
                names += [(name, False) for name in found]
            else:
                name = self.expect_token("name")
                names.append((name, self.skip_next_token_if_mark("?")))
            if self.skip_next_token_if_mark(":"):
                break
            self.expect_token("mark", ",")
        self.skip_newlines()
        described = self.parse_type()
        for name, optional in names:
            result["properties"][name] = described
            if not optional:
                result["required"].append(name)


def resolve_type(node: Any, definitions: dict[str, Schema], used: dict[str, Any]) -> Any:
    """Return a type with each `...name` inserted; add the definitions that it uses to `used`."""
    if isinstance(node, list):
        return [resolve_type(one, definitions, used) for one in node]
    if not isinstance(node, dict) or "const" in node or "enum" in node:
        return node
    if "$ref" in node:
        name = node["$ref"]
        if name == "json_format":
            return FORMAT
        if name not in used:
            used[name] = None
            used[name] = resolve_type(definitions[name], definitions, used)
        return {"$ref": f"#/$defs/{name}"}
    if "..." not in node:
        return {key: resolve_type(value, definitions, used) for key, value in node.items()}
    spread = expand_inserted_fields(node, definitions)
    properties = {key: resolve_type(value, definitions, used)
                  for key, value in spread["properties"].items()}
    rest = {key: resolve_type(value, definitions, used)
            for key, value in node.items() if key not in ("...", "properties", "required")}
    result = {"type": rest.pop("type")}
    if properties:
        result["properties"] = properties
    if spread["required"]:
        result["required"] = spread["required"]
    return result | rest


def expand_inserted_fields(node: Schema, definitions: dict[str, Schema]) -> Schema:
    """Return an object's properties in order, with the properties of each `...name` inserted."""
    own = list(node["properties"].items())
    properties: Schema = {}
    required: list[str] = []
    at = 0
    for name, before in node["..."]:
        inner = expand_inserted_fields(definitions[name], definitions)
        properties |= dict(own[at:before]) | inner["properties"]
        required += inner["required"]
        at = before
    return {"properties": properties | dict(own[at:]), "required": required + node["required"]}


@cache
def load_schema(path: Path) -> Schema:
    """Return the JSON schema of a .fields file."""
    parser = Parser(COMMON)
    common = parser.definitions
    try:
        parser = Parser(path.read_text(encoding="utf-8"))
        definitions = common | parser.definitions
        used: dict[str, Any] = {}
        document = resolve_type(definitions["document"], definitions, used)
    except (KeyError, ValueError) as error:
        raise SystemExit(f"make_schema: {path}: {error}") from error
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": parser.title,
            **document, "$defs": used}


def main(fields: str, out: str) -> int:
    """Write the JSON schema of the .fields file `fields` to the file `out`."""
    text = json.dumps(load_schema(Path(fields)), indent=2) + "\n"
    Path(out).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
