# SPDX-License-Identifier: GPL-2.0-only
"""Measures of runs and devices, each defined once for tables, figures and JSON."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Measure:
    """A measure of runs, such as a mean response time; its key ends with its unit."""

    key: str
    title: str
    group: str
    value: Callable[[Json], float | None]
    #: True if less is better, False if more is; None if neither.
    less: bool | None = True

    @property
    def unit_at_end_of_key(self) -> str:
        for unit in ("ns", "pj", "percent"):
            if self.key.endswith("_" + unit):
                return unit
        return ""


def is_number(value: object) -> bool:
    """Tell whether a value is a number and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def compute_scaled_quotient(part: float | None, whole: float | None,
                            scale: float = 1.0) -> float | None:
    """Return a quotient times a factor; None if the divisor is 0."""
    return None if part is None or not whole else scale * part / whole


def get_json_value_at_key_path(data: Json, *keys: str) -> Any:
    """Return the value in nested JSON objects at a path of keys; None if it is missing."""
    node: Any = data
    for key in keys:
        if not isinstance(node, dict) or key not in node:
            return None
        node = node[key]
    return node


def make_response_time_reader(name: str, what: str) -> Callable[[Json], float | None]:
    """Return a function that reads a response time, or None, from a simulator's result."""
    def response_time_in_result(data: Json) -> float | None:
        found = get_json_value_at_key_path(data, "timing", name, f"{what}_ns")
        return found if get_json_value_at_key_path(data, "timing", name, "count") else None
    return response_time_in_result


def make_result_number_reader(*keys: str) -> Callable[[Json], float | None]:
    """Return a function that reads the number at a path of keys from a simulator's result."""
    def read_number(data: Json) -> float | None:
        found: float | None = get_json_value_at_key_path(data, *keys)
        return found
    return read_number


def make_counter_reader(name: str) -> Callable[[Json], float | None]:
    """Return a function that reads a counter from a simulator's result."""
    return make_result_number_reader("counters", name)


def compute_bit_error_rate_of_approx_data(data: Json) -> float | None:
    """Return the share of flipped bits among all bits of approximate data read."""
    bits = compute_scaled_quotient(get_json_value_at_key_path(data, "counters",
                                                              "read_flipped_bits"),
                                   get_json_value_at_key_path(data, "counters",
                                                              "read_approx_units"))
    return compute_scaled_quotient(bits, get_json_value_at_key_path(data, "unit_bits"))


def make_result_energy_reader(what: str) -> Callable[[Json], float | None]:
    """Return a function that reads the energy of an operation from a result or from counters."""
    def energy_in_result(data: Json) -> float | None:
        found: float | None = get_json_value_at_key_path(data, "energy", f"{what}_pj")
        if found is not None:
            return found
        names = ("read", "program", "erase") if what == "total" else (what,)
        parts = [get_json_value_at_key_path(data, "counters", f"{name}_energy_pj")
                 for name in names]
        return None if None in parts else sum(parts)
    return energy_in_result


def compute_write_amplification_of_result(data: Json) -> float | None:
    found: float | None = get_json_value_at_key_path(data, "write_amplification", "total")
    if found is None and not isinstance(data.get("write_amplification"), dict):
        found = get_json_value_at_key_path(data, "write_amplification")
    return found


def requests_per_second(data: Json) -> float | None:
    """Return requests per second of simulated time."""
    return compute_scaled_quotient(get_json_value_at_key_path(data, "requests"),
                                   get_json_value_at_key_path(data, "simulated_ns"), 1e9)


def make_percentage_reader(value: Callable[[Json], float | None]) -> Callable[[Json], float | None]:
    """Return a function that converts the share returned by function `value` to percent."""
    def percentage_in_result(data: Json) -> float | None:
        found = value(data)
        return None if found is None else 100 * found
    return percentage_in_result


def make_response_time_measures(kind: str) -> Iterator[Measure]:
    group = f"{kind}s"
    for what, title in (("mean", "mean"), ("p50", "p50"), ("p99", "p99"),
                        ("p99_9", "p99.9"), ("max", "max")):
        yield Measure(f"{kind}_response_{what}_ns", f"{kind} response, {title}", group,
                      make_response_time_reader(f"{kind}_response", what))
    yield Measure(f"{kind}_waiting_mean_ns", f"{kind} waiting, mean", group,
                  make_response_time_reader(f"{kind}_waiting", "mean"))
    yield Measure(f"{kind}_service_mean_ns", f"{kind} service, mean", group,
                  make_response_time_reader(f"{kind}_service", "mean"))


def make_write_response_measures_of_class(name: str, title: str) -> Iterator[Measure]:
    """Yield the measures of writes by data class; reads have none, as they may mix classes."""
    for what, said in (("mean", "mean"), ("p99", "p99")):
        yield Measure(f"write_{name}_response_{what}_ns", f"write response, {title}, {said}",
                      "writes", make_response_time_reader(f"write_{name}_response", what))


MEASURES: tuple[Measure, ...] = (
    *make_response_time_measures("read"),
    *make_response_time_measures("write"),
    *make_write_response_measures_of_class("precise", "precise"),
    *make_write_response_measures_of_class("approx", "approximate"),
    Measure("requests_per_second", "throughput", "load", requests_per_second, False),
    Measure("lun_utilisation_percent", "die utilisation", "load",
            make_percentage_reader(make_result_number_reader("luns", "mean_utilisation")), None),
    Measure("total_energy_pj", "energy", "energy", make_result_energy_reader("total")),
    Measure("program_energy_pj", "energy of programs", "energy",
            make_result_energy_reader("program")),
    Measure("read_energy_pj", "energy of reads", "energy", make_result_energy_reader("read")),
    Measure("erase_energy_pj", "energy of erases", "energy", make_result_energy_reader("erase")),
    Measure("write_amplification", "write amplification", "wear",
            compute_write_amplification_of_result),
    Measure("array_erases", "erases", "wear", make_counter_reader("array_erases")),
    Measure("erases_of_a_block_mean", "erase count, mean", "wear",
            make_result_number_reader("blocks", "erase_count", "mean")),
    Measure("erases_of_a_block_max", "erase count, max", "wear",
            make_result_number_reader("blocks", "erase_count", "max")),
    Measure("wear_mean", "wear in full erases, mean", "wear",
            make_result_number_reader("blocks", "wear", "mean")),
    Measure("lifetime_factor", "lifetime factor", "wear",
            make_result_number_reader("lifetime", "factor"), False),
    Measure("precise_pages", "pages of class precise", "classes",
            make_result_number_reader("class_pages", "precise"), None),
    Measure("approximate_pages", "pages of class approximate", "classes",
            make_result_number_reader("class_pages", "approximate"), None),
    Measure("read_approx_units", "approximate units read", "quality",
            make_counter_reader("read_approx_units"), None),
    Measure("read_flipped_bits", "flipped bits read", "quality",
            make_counter_reader("read_flipped_bits")),
    Measure("bit_error_rate", "bit error rate of approximate data", "quality",
            compute_bit_error_rate_of_approx_data),
    Measure("read_corrected_bits", "bits corrected", "quality",
            make_counter_reader("read_corrected_bits")),
    Measure("read_lost_units", "units lost", "quality", make_counter_reader("read_lost_units")),
    Measure("policy_bugs", "refused proposals", "quality", make_counter_reader("policy_bugs")),
)

BY_KEY = {measure.key: measure for measure in MEASURES}
#: Measures that a report shows first.
HEADLINE = ("read_response_mean_ns", "read_response_p99_ns", "write_response_mean_ns",
            "write_response_p99_ns", "total_energy_pj", "write_amplification", "wear_mean",
            "lifetime_factor", "precise_pages", "approximate_pages", "read_flipped_bits",
            "bit_error_rate", "read_lost_units", "policy_bugs")


def compute_result_measures(data: Json, unit_bytes: int | None = None) -> dict[str, float | None]:
    known = {**data, "unit_bits": 8 * unit_bytes if unit_bytes else None}
    return {measure.key: measure.value(known) for measure in MEASURES}


SCALES = {
    "ns": ((3.6e12, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")),
    "pj": ((1e12, "J"), (1e9, "mJ"), (1e6, "uJ"), (1e3, "nJ"), (1.0, "pJ")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB")),
}


def scale_time_to_unit(unit: str, value: float) -> str | None:
    """Return a time in the largest unit in which it is at least 1; None if there is no time."""
    for scale, name in SCALES.get(unit, ()):
        if abs(value) >= scale:
            return f"{value / scale:.4g} {name}"
    return None


def value_as_text(measure: Measure, value: float | None) -> str:
    if value is None:
        return "\u2013"
    with_unit = scale_time_to_unit(measure.unit_at_end_of_key, value)
    if with_unit:
        return with_unit
    if measure.unit_at_end_of_key == "percent":
        return f"{value:.2f} %"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value)}"
    if 0 < abs(value) < 0.01:
        return f"{value:.3e}"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.1f}"


def compute_ratio_to_base_value(value: float | None, base: float | None) -> float | None:
    return compute_scaled_quotient(value, base)
