# SPDX-License-Identifier: GPL-2.0-only
"""Build a JSON Schema of study files from the key lists of the modules that read study files.

A schema cannot express that one value depends on another, such as the name of an existing axis;
those modules check such dependencies.
"""

import re
from collections.abc import Iterable
from typing import Any

from approxftl_tools import study_figure, study_optimise, study_plan, study_streams
from approxftl_tools.paper_measures import VALUES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
#: The value of an option.
PLAIN: Schema = {"type": ["string", "number", "boolean"]}
NUMBER: Schema = {"type": "number"}
MEASURE: Schema = {"enum": list(VALUES)}


def integer_schema(least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def list_schema(one: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": one, **({"minItems": least} if least else {})}


def combine_schemas_as_alternatives(*schemas: Schema) -> Schema:
    return {"oneOf": list(schemas)}


def table_schema(keys: Iterable[str], values: dict[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "additionalProperties": False,
            "properties": {key: values[key] for key in keys}, **more}


def options_schema(refused: Iterable[str], value: Schema) -> Schema:
    """Return the JSON Schema of a table of simulator options, without the refused options."""
    names = "|".join(re.escape(key).replace(r"\-", "[-_]") for key in refused)
    return {"type": "object", "propertyNames": {"pattern": f"^(?!({names})$)"},
            "additionalProperties": value}


def figure_schema() -> Schema:
    point = table_schema(study_figure.POINT_KEYS, {
        "x": PLAIN, "y": NUMBER, "low": NUMBER, "high": NUMBER, "series": PLAIN, "facet": PLAIN},
        required=["y"])
    network = {"type": "object", "required": list(study_figure.NETWORK_KEYS)}
    return table_schema(study_figure.KEYS, {
        **dict.fromkeys(study_figure.TEXTS, TEXT),
        **{key: {"enum": list(words)} for key, words in study_figure.CHOICES.items()},
        "relative_to": PLAIN, "x": combine_schemas_as_alternatives(TEXT, list_schema(TEXT, 1)),
        "y": combine_schemas_as_alternatives({"enum": [*VALUES, *study_figure.DISTRIBUTIONS]},
                                             list_schema(MEASURE, 1)),
        "show": combine_schemas_as_alternatives(PLAIN, list_schema(PLAIN)),
        "shares": {"type": "boolean"},
        "points": list_schema(point), "networks": list_schema(network)}, required=["y"])


def optimise_schema() -> Schema:
    between = table_schema(study_optimise.RANGE_KEYS, {
        "from": NUMBER, "to": NUMBER, "step": NUMBER, "log": {"type": "boolean"}, "unit": TEXT},
        required=["from", "to"])
    own = (*study_plan.RESERVED, *study_plan.FILES)
    return table_schema(study_optimise.KEYS, {
        "minimise": MEASURE, "maximise": MEASURE, **{
            key: integer_schema(least, most) for key, (_, least,
                                                       most) in study_optimise.COUNTS.items()},
        "range": {**options_schema(own,
                                   combine_schemas_as_alternatives(list_schema(PLAIN, 2),
                                                                   between)), "minProperties": 1}},
        required=["range"])


def study_schema() -> Schema:
    sets = {"type": "object", "minProperties": 1,
            "additionalProperties": options_schema(study_plan.RESERVED, PLAIN)}
    rule = {"type": "object", "minProperties": 1,
            "additionalProperties": combine_schemas_as_alternatives(PLAIN, list_schema(PLAIN, 1))}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A study of approxftl",
        **table_schema(study_plan.KEYS, {
            "study": {"type": "integer", "enum": [study_plan.LANGUAGE]},
            "name": TEXT, "text": TEXT, "relative_to": TEXT,
            **{key: integer_schema(least, most) for key, (least,
                                                          most) in study_plan.COUNTS.items()},
            "until": {"type": "string", "pattern": study_plan.SHARE},
            "measures": list_schema(MEASURE, 1), "warmup": {"enum": list(study_plan.WARMUP)},
            "base": options_schema(study_plan.RESERVED, PLAIN),
            "vary": {"type": "object",
                     "additionalProperties": combine_schemas_as_alternatives(list_schema(PLAIN, 1),
                                                                             sets)},
            "exclude": list_schema(rule), "figure": list_schema(figure_schema()),
            "synth": options_schema(study_streams.RESERVED, PLAIN), "optimise": optimise_schema()},
            required=["study"])}
