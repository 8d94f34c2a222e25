# SPDX-License-Identifier: GPL-2.0-only
"""Search the values of options that optimise a measure of a study, with Optuna.

The proposals depend only on the study's file and on earlier results in their order. So a restarted
search proposes the same values and finds finished points in the store.
"""

import importlib
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from approxftl_tools import study_plan, study_table
from approxftl_tools.command import FAILED, USAGE, Refusal
from approxftl_tools.measures import BY_KEY, value_as_text
from approxftl_tools.paper_measures import VALUES
from approxftl_tools.row_list import Column, align_columns
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_engine import Engine
from approxftl_tools.study_plan import (
    Plan,
    Value,
    get_integer_of_study_key,
    is_valid_option_value,
    option_name,
    refuse_unknown_words,
)
from approxftl_tools.study_run import Progress, distinct_points, run_study_points
from approxftl_tools.study_store import DONE, MISSING, Store
from approxftl_tools.study_store import FAILED as POINT_FAILED

KEYS = ("minimise", "maximise", "trials", "together", "seed", "range")
RANGE_KEYS = ("from", "to", "step", "log", "unit")
#: Default, least and largest value of each number.
COUNTS = {"trials": (40, 1, 10_000), "together": (4, 1, 1024), "seed": (1, 0, 2**32 - 1)}
#: Significant digits of a fraction; the simulator reads two decimals of a percentage.
DIGITS = 4


@dataclass(frozen=True)
class Range:
    """Possible values of an option: a list of choices, or a range of numbers."""

    choices: tuple[Value, ...] = ()
    low: float = 0
    high: float = 0
    step: float | None = None
    log: bool = False
    #: Unit after the number, such as %.
    unit: str = ""

    def optuna_distribution(self, optuna: Any) -> Any:
        """Return Optuna's distribution for the range of an option."""
        kinds = optuna.distributions
        if self.choices:
            return kinds.CategoricalDistribution(self.choices)
        if isinstance(self.low, int) and isinstance(self.high, int):
            return kinds.IntDistribution(self.low, self.high, log=self.log, step=self.step or 1)
        return kinds.FloatDistribution(self.low, self.high, log=self.log, step=self.step)

    def format_option_value(self, value: Any) -> Value:
        """Return an option's value in the simulator's syntax."""
        if self.choices:
            chosen: Value = value
            return chosen
        if isinstance(value, int):
            return f"{value}{self.unit}"
        decimals = 2 if self.unit == "%" else DIGITS - 1 - math.floor(math.log10(abs(value) or 1))
        text = f"{value:.{max(0, decimals)}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text) + self.unit


@dataclass(frozen=True)
class Goal:
    """The measure to optimise, and the ranges to search."""

    measure: str
    largest: bool
    trials: int
    #: Number of proposals before the first of them is evaluated.
    together: int
    seed: int
    ranges: dict[str, Range]


@dataclass
class Trial:
    """The option values of a trial and the measure that they gave."""

    values: dict[str, Value]
    value: float | None = None
    estimate: Estimate | None = None
    why: str = ""
    command: str = ""
    plan: Plan | None = field(default=None, repr=False)


def parse_range_number(path: Path, key: str, table: Mapping[str, Any], which: str) -> float:
    value = table.get(which)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Refusal(f'{path}: [optimise.range] {key}: "{which}" is a number', USAGE)
    return value


def parse_number_range(path: Path, key: str, table: Mapping[str, Any]) -> Range:
    refuse_unknown_words(path, f"key of {key} in [optimise.range]", table, RANGE_KEYS)
    low, high = (parse_range_number(path, key, table, which) for which in ("from", "to"))
    step = parse_range_number(path, key, table, "step") if "step" in table else None
    log, unit = table.get("log", False), table.get("unit", "")
    whole = isinstance(low, int) and isinstance(high, int)
    if low >= high or (step is not None and (step <= 0 or step > high - low)):
        raise Refusal(f"{path}: [optimise.range] {key}: from is below to, and a step is no larger "
                      "than what is between them", USAGE)
    if not isinstance(log, bool) or not isinstance(unit, str) or (log and (low <= 0 or step)):
        raise Refusal(f"{path}: [optimise.range] {key}: log is true or false, for positive numbers "
                      "without a step; unit is a word", USAGE)
    if whole and step is not None and not isinstance(step, int):
        raise Refusal(f"{path}: [optimise.range] {key}: from and to are whole, and so is the step",
                      USAGE)
    return Range(low=low, high=high, step=step, log=log, unit=unit)


def parse_option_range(path: Path, key: str, given: object) -> Range:
    """Parse the possible values of an option."""
    if isinstance(given, dict):
        return parse_number_range(path, key, given)
    if isinstance(given, list) and len(given) > 1 and all(map(is_valid_option_value, given)):
        return Range(choices=tuple(given))
    raise Refusal(f"{path}: [optimise.range] {key} is a list of values, or {{ from = 7, to = 28, "
                  'unit = "%" }', USAGE)


def check_optimise_keys(plan: Plan, table: Mapping[str, Any], ranges: object) -> Mapping[str, Any]:
    """Refuse unknown, reserved or duplicate keys; return the ranges to search."""
    path = plan.path
    refuse_unknown_words(path, "key of [optimise]", table, KEYS)
    if ("minimise" in table) == ("maximise" in table):
        raise Refusal(f"{path}: [optimise] has minimise or maximise, with a measure", USAGE)
    if not isinstance(ranges, dict) or not ranges:
        raise Refusal(f"{path}: [optimise.range] is a table of options and what they may be", USAGE)
    taken = {option_name(word.removeprefix("--").partition("=")[0])
             for point in plan.points for word in point.arguments} | set(map(option_name,
                                                                             plan.keys))
    for key in ranges:
        if option_name(key) in study_plan.RESERVED or option_name(key) in study_plan.FILES:
            raise Refusal(f'{path}: "{key}" is not for [optimise.range]', USAGE)
        if option_name(key) in taken:
            raise Refusal(f'{path}: "{key}" is in [optimise.range], and in [base] or [vary]', USAGE)
    return ranges


def parse_optimise_section_of_study(plan: Plan) -> Goal:
    table = plan.optimise
    if table is None:
        raise Refusal(f"{plan.path}: it has no [optimise]", USAGE)
    ranges = check_optimise_keys(plan, table, table.get("range"))
    measure = table.get("minimise", table.get("maximise"))
    refuse_unknown_words(plan.path, "measure", [str(measure)], list(VALUES))
    counts = {key: get_integer_of_study_key(plan.path, table, key, *bounds)
              for key, bounds in COUNTS.items()}
    return Goal(str(measure), "maximise" in table, **counts,
                ranges={key: parse_option_range(plan.path, key, given)
                        for key, given in ranges.items()})


@dataclass
class Search:
    plan: Plan
    goal: Goal
    store: Store
    program: Path
    #: Creates the engine that runs points.
    engine: Callable[[], Engine]
    #: True to run failed points again.
    retry: bool = False
    shown: bool = False
    trials: list[Trial] = field(default_factory=list)

    def best_trial(self) -> Trial | None:
        """Return the best trial, of equal ones the first; None if no trial has a value."""
        found = [trial for trial in self.trials if trial.value is not None]
        sign = -1 if self.goal.largest else 1
        return min(found, key=lambda trial: sign * (trial.value or 0), default=None)

    def plan_trial_points(self, values: dict[str, Value]) -> Trial:
        """Return a trial of these option values: the runs to make, or why they are impossible."""
        trial = Trial(values)
        try:
            trial.plan = study_plan.read_study(self.plan.path, self.program, setting=replace(
                self.plan.setting, more={"base": values}))
            trial.command = trial.plan.points[0].shell_command()
        except Refusal as refusal:
            trial.why = str(refusal).removeprefix(f"{self.plan.path}: ")
        return trial

    def compute_objective_value_of_trial(self, trial: Trial) -> None:
        """Set a trial's value: the mean over all points, each averaged over seeds."""
        if trial.plan is None:
            return
        for point in trial.plan.points:
            if self.store.state_of_point(point) != DONE:
                trial.why = f"{point.point_name()}: {self.store.read_point_failure(point)}"
                return
        groups = study_table.group_points_ignoring_seed(trial.plan, self.store)
        found = [group.estimate_mean_over_seeds(self.goal.measure) for group in groups]
        means = [one.mean for one in found if one]
        if len(means) < len(found):
            trial.why = f"a run has no {self.goal.measure}"
            return
        trial.value = sum(means) / len(means)
        trial.estimate = found[0] if len(found) == 1 else None

    def print_search_progress(self) -> None:
        if self.shown:
            best = self.best_trial()
            value = format_trial_measure(self.goal.measure, best.value if best else None)
            sys.stderr.write(f"\r{len(self.trials)} of {self.goal.trials} trials, "
                             f"best {value}\033[K")
            sys.stderr.flush()

    def run_all_trials(self) -> bool:
        """Run all trials of a search; return False if interrupted."""
        try:
            optuna = importlib.import_module("optuna")
        except ImportError as error:
            raise Refusal("study optimise needs the Python package optuna: pip install optuna",
                          FAILED) from error
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(direction="maximize" if self.goal.largest else "minimize",
                                    sampler=optuna.samplers.TPESampler(seed=self.goal.seed))
        kinds = {key: one.optuna_distribution(optuna) for key, one in self.goal.ranges.items()}
        while len(self.trials) < self.goal.trials:
            asked = [study.ask(kinds) for _ in range(min(self.goal.together,
                                                         self.goal.trials - len(self.trials)))]
            trials = [self.plan_trial_points({key: self.goal.ranges[key].format_option_value(value)
                                              for key, value in one.params.items()})
                      for one in asked]
            wanted = {MISSING, POINT_FAILED} if self.retry else {MISSING}
            points = distinct_points([point for trial in trials if trial.plan
                                      for point in trial.plan.points
                                      if self.store.state_of_point(point) in wanted])
            if not run_study_points(points, self.store, self.engine(),
                                    Progress(len(points), False)):
                return False
            for one, trial in zip(asked, trials, strict=True):
                self.compute_objective_value_of_trial(trial)
                study.tell(one, trial.value, state=None if trial.value is not None else
                           optuna.trial.TrialState.FAIL)
            self.trials += trials
            if all(trial.plan is None for trial in self.trials):
                raise Refusal(f"{self.plan.path}: {self.trials[0].why}", USAGE)
            self.print_search_progress()
        return True


def format_trial_measure(key: str, value: float | None) -> str:
    if value is None:
        return "\u2013"
    return value_as_text(BY_KEY[key], value) if key in BY_KEY else f"{value:.4g}"


def sort_trials_best_first(search: Search) -> list[tuple[int, Trial]]:
    """Return numbered trials, the best first and those without a value last."""
    sign = -1 if search.goal.largest else 1
    return sorted(enumerate(search.trials, 1), key=lambda one: (
        one[1].value is None, sign * (one[1].value or 0), one[0]))


def trials_as_text(search: Search) -> str:
    """Return the trials as an aligned table."""
    measure = search.goal.measure
    head = ["trial", *search.goal.ranges, study_table.measure_title(measure)]
    cells = [[str(number), *(str(trial.values[key]) for key in search.goal.ranges),
              study_table.format_value_and_interval(
                  {**study_table.mean_and_interval_columns(measure, trial.estimate),
                   measure: trial.value}, measure)]
             for number, trial in sort_trials_best_first(search)]
    lines = align_columns([head, *cells], [True] * len(head))
    best = search.best_trial()
    return lines + (f"\nbest: {best.command}\n" if best else "")


def trial_columns(goal: Goal) -> tuple[Column, ...]:
    return (Column("trial", "trial", "its number"),
            *(Column(key, study_table.measure_title(key), "what is looked for")
              for key in goal.ranges),
            *study_table.make_columns_of_measure(goal.measure,
                                                 study_table.measure_title(goal.measure)),
            Column("why", "why", "why it has no value", False, True),
            Column("command", "command", "that runs its first point", False, True))


def trial_rows(search: Search) -> list[dict[str, Any]]:
    return [{**row.pop("values"), **row} for row in trials_as_json(search)["trials"]]


def trials_as_json(search: Search) -> dict[str, Any]:
    best = search.best_trial()
    rows = [{"trial": number, "values": trial.values,
             **study_table.mean_and_interval_columns(search.goal.measure, trial.estimate),
             search.goal.measure: trial.value, "why": trial.why, "command": trial.command}
            for number, trial in sort_trials_best_first(search)]
    return {"measure": search.goal.measure, "largest": search.goal.largest, "trials": rows,
            "best": search.trials.index(best) + 1 if best else None}
