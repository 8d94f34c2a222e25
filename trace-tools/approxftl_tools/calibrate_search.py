# SPDX-License-Identifier: GPL-2.0-only
"""Find the drive model that explains measurements, and its undetermined parameters.

Integer parameters (dies, stripe, one-shot programming) are enumerated; the others are fitted from a
first guess.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from approxftl_tools.calibrate_fit import (
    can_fit_use_measurement,
    confidence_intervals,
    does_load_have_queue_depth_1,
    does_load_show_buffer_latency,
    find_measured_value_of_fio_load,
    fit_model,
    keep_models_as_good_as_best,
    rank_models,
)
from approxftl_tools.calibrate_model import PAGE, Compared, Model, Trial
from approxftl_tools.fio_output import Measured

#: A parameter whose interval spans more than this factor is not determined.
USELESS = 4.0
STRIPES = tuple(4096 << i for i in range(7))
#: Widest stripe with one-shot programs: three pages of each plane, at most 64 units of 4 KiB.
ONE_SHOT_STRIPE = 64 << 10
#: Numbers of dies that real drives have.
DIES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128,
        160, 192, 224, 256, 320, 384, 512)
BUFFERS = tuple(1 << bits for bits in range(20, 31))
#: Candidates whose misfit exceeds the best by this factor are dropped.
CLOSE = 3.0
#: How often the number of dies is chosen again after the times were fitted.
RANKINGS = 2
SPARES = (7.0, 12.0, 20.0, 34.0)
COUNTED = ("dies", "stripe", "one_shot")
READ_TIMES = ("read_first", "read", "read_last")
PATHS = ("controller", "bus", "link", "link_command")
#: Share of the time between two requests at the highest rate that the command may take.
COMMAND_SHARE = 0.3
#: Above this share the command time limits the request rate.
LIMITING = 0.9
#: First guess of the time of a single read outside the die (ns).
WAY = 4e3

#: The measurements that determine each parameter.
TOLD_BY = {
    "dies": "random reads of 4 KiB, 1 to 256 under way", "stripe": "reads at strides",
    "one_shot": "reads at strides", "controller": "single writes and reads",
    "read": "single reads", "read_first": "the mean of single reads",
    "read_last": "the slowest tenth of single reads", "bus": "long reads against short ones",
    "link": "rates of long reads that do not grow any more",
    "link_command": "rates of short reads that do not grow any more",
    "program": "the fill, and reads beside writes", "buffer": "bursts of 1 MiB to 256 MiB",
    "op": "rewrites at random until nothing changes",
}


@dataclass(frozen=True)
class Known:
    """A parameter's calibrated value and its confidence interval."""

    name: str
    value: float
    low: float
    high: float

    @property
    def is_parameter_determined(self) -> bool:
        """Tell whether the confidence interval is narrow enough to be useful."""
        return self.low >= 0 and self.high < USELESS * max(self.low, 1.0 / USELESS)

    @property
    def measurements_that_determine_parameter(self) -> str:
        """Return the measurements that determine the parameter, or that would determine it."""
        return f"{'' if self.is_parameter_determined else 'assumed; ask '}{TOLD_BY[self.name]}"


@dataclass
class Found:
    """The calibrated drive model and its comparison with the measurements."""

    model: Model
    known: list[Known] = field(default_factory=list)
    comparison: list[Compared] = field(default_factory=list)


# ---------------------------------------------------------------- loads


def does_load_only_read(load: Measured) -> bool:
    return load.writes == 0 and not load.beside_rate


def do_reads_of_load_contend_for_dies(load: Measured) -> bool:
    """Tell whether reads overlap, so that they contend for dies."""
    return does_load_only_read(load) and (load.depth >= 4 or load.rate > 0 or load.stride > 0)


def is_load_without_random_flash_writes(load: Measured) -> bool:
    """Tell whether the measured load has no random rewrites that reach the flash."""
    return not (load.writes and load.order == "random") or does_load_show_buffer_latency(load)


def did_load_begin_in_steady_state(load: Measured) -> bool:
    """Tell whether random rewrites began in steady state."""
    return load.writes == 0 or load.order == "sequential" or load.before.overwritten >= 1 or \
        does_load_show_buffer_latency(load)


def find_load_with_smallest_qd1_reads(loads: Iterable[Measured]) -> Measured | None:
    return find_load_with_smallest_request_size(load for load in loads if does_load_only_read(load)
                                                and does_load_have_queue_depth_1(load))


def find_load_with_smallest_request_size(loads: Iterable[Measured]) -> Measured | None:
    return min(loads, key=lambda load: load.size, default=None)


# ---------------------------------------------------------------- first guesses


def guess_controller_time(loads: Sequence[Measured]) -> float:
    """Guess the controller's time (ns): it is nearly the whole latency of a buffered write."""
    found = find_load_with_smallest_request_size(filter(does_load_show_buffer_latency, loads))
    lone = find_load_with_smallest_qd1_reads(loads)
    if found:
        return 900.0 * find_measured_value_of_fio_load(found, "write", "p50", "mean")
    return min(8e3, 100.0 * find_measured_value_of_fio_load(lone, "read", "mean")) if lone else 8e3


def guess_read_stride_that_hits_one_die(loads: Sequence[Measured]) -> int:
    """Return the stride (bytes) at which all reads hit one die; 0 if strides were not measured.

    Among the measured strides, this is the smallest with nearly the lowest read rate.
    """
    strides = sorted((load.stride, find_measured_value_of_fio_load(load, "read", "rate"))
                     for load in loads
                     if load.stride)
    slow = min((rate for _, rate in strides), default=0.0)
    return next((stride for stride, rate in strides if rate <= 1.15 * slow), 0)


def guess_first_model(loads: Sequence[Measured]) -> Model:
    """Return a first model, guessed from the measurements without simulation."""
    controller = guess_controller_time(loads)
    lone = find_load_with_smallest_qd1_reads(loads)
    times = [find_measured_value_of_fio_load(load, "read", "p50", "mean")
             for load in ([lone] if lone else loads) if load.writes < 1]
    read = max(1e3, 1e3 * min(times, default=60.0) - controller - WAY)
    # As many dies as reads proceed in parallel under load.
    rates = [find_measured_value_of_fio_load(load, "read", "rate") for load in loads
             if does_load_only_read(load) and load.order == "random" and load.size <= PAGE]
    dies = find_nearest_parameter_value(DIES, max(rates, default=0.0) * (read + WAY) / 1e9)
    row = guess_read_stride_that_hits_one_die(loads)
    stripe = find_nearest_parameter_value(STRIPES, row / dies) if row else PAGE
    # The highest rate of all loads (MB/s).
    link = max(find_measured_value_of_fio_load(load, kind, "rate") * load.size / 1e6
               for load in loads for kind in ("read", "write"))
    values = {"controller": controller, **guess_page_read_times(loads, read), "bus": 1200.0,
              "link": max(link * 1.5, 1000.0),
              "link_command": COMMAND_SHARE * 1e9 / find_highest_request_rate(loads),
              "program": 500e3, "buffer": float(16 << 20), "op": 15.0}
    return Model(dies, stripe, False, {}).copy_model_and_set_values(values)


def find_nearest_parameter_value(known: Sequence[int], wanted: float) -> int:
    """Return the number among `known` whose ratio to `wanted` is nearest to 1."""
    return min(known, key=lambda one: abs(math.log(one / max(wanted, 1e-9))))


def list_neighbouring_parameter_values(known: Sequence[int], middle: int, reach: int
                                       ) -> tuple[int, ...]:
    at = known.index(middle)
    return tuple(known[max(0, at - reach):at + reach + 1])


def guess_page_read_times(loads: Sequence[Measured], read: float) -> dict[str, float]:
    """Return guesses of the read times (ns) of page types, from the latencies of single reads."""
    lone = find_load_with_smallest_qd1_reads(loads)
    half, most, mean = (1e3 * find_measured_value_of_fio_load(lone, "read", what) if lone else 0.0
                        for what in ("p50", "p90", "mean"))
    if not half or (most < 1.06 * half and abs(mean / half - 1) < 0.05):
        return {"read": read}
    last = max(most - half, 0.1 * read)
    return {"read": read, "read_first": max(0.5 * read, read - last), "read_last": read + last}


def find_highest_request_rate(loads: Sequence[Measured]) -> float:
    """Return the highest request rate of all loads (1/s)."""
    return max(find_measured_value_of_fio_load(load, kind, "rate") for load in loads
               for kind in ("read", "write"))


def estimate_command_ns_from_short_reads(loads: Sequence[Measured]) -> float:
    """Return the link's time per command (ns) if it limits the rate of short reads; 0 if not.

    The link is the limit if a higher queue depth does not raise the rate.
    """
    short = min(load.size for load in loads)
    deep = sorted((load.depth, find_measured_value_of_fio_load(load, "read", "rate"))
                  for load in loads
                  if not load.stride and not load.rate and load.size == short)
    flat = len(deep) > 1 and deep[-1][1] < 1.03 * deep[-2][1]
    return 1e9 / deep[-1][1] if flat else 0.0


def make_models_limited_by_command_time(shape: Model, limit: float) -> list[Model]:
    """Return copies of a model in which the link, alone or with the dies, limits short reads."""
    spare = limit * shape.dies / shape.values["read"]
    shares = [*[COMMAND_SHARE] * (spare < 1.3), *[0.98] * (spare > 1.1)]
    return [shape.copy_model_and_set_values({"link_command": share * limit}) for share in shares] \
        if limit else [shape]


def choose_models_of_two_best_stripe_sizes(ranked: Sequence[tuple[float, Model]]) -> list[Model]:
    """Return the best model of each of the two best stripe sizes, without much worse models."""
    found: dict[int, tuple[float, Model]] = {}
    for cost, model in ranked:
        found.setdefault(model.stripe, (cost, model))
    return [model for cost, model in list(found.values())[:2] if cost < CLOSE * ranked[0][0]]


# ---------------------------------------------------------------- the search


@dataclass
class Search:
    """The search for a drive's model, with a method for each step."""

    trial: Trial
    say: Callable[[str], None]
    #: For each integer parameter the values that fit about as well as the best.
    counted: dict[str, set[int]] = field(default_factory=dict)
    #: Names of the parameters that were fitted so far.
    free: list[str] = field(default_factory=list)

    def select_loads_of_model_trial(self, wanted: Callable[[Measured], bool]) -> Trial:
        """Return a Trial (compares models on loads) with only the loads that wanted() accepts."""
        return self.trial.restrict_trial_to_loads(filter(wanted, self.trial.loads))

    def has_strided_reads(self) -> bool:
        """Tell whether the measured loads include reads at strides."""
        return any(load.stride for load in self.trial.loads)

    def make_variants_of_model_geometry(self, model: Model, reach: int) -> list[Model]:
        """Return models whose numbers of dies and stripe sizes are similar to the model's."""
        strided = self.has_strided_reads()
        return [replace(model, dies=dies, stripe=stripe, one_shot=three)
                for dies in list_neighbouring_parameter_values(DIES, model.dies, reach)
                for stripe in list_neighbouring_parameter_values(STRIPES, model.stripe,
                                                                 1 if strided else 3)
                for three in ((False, True) if strided else (model.one_shot,))
                if not three or stripe <= ONE_SHOT_STRIPE]

    def rank_variants_of_model_geometry(self, model: Model) -> list[tuple[float, Model]]:
        """Return models with dies and stripe sizes similar to the model's, the best first."""
        deep = self.select_loads_of_model_trial(do_reads_of_load_contend_for_dies)
        limit = estimate_command_ns_from_short_reads(deep.loads)
        found = rank_models(deep, [one for shape in self.make_variants_of_model_geometry(model, 2)
                                   for one in make_models_limited_by_command_time(shape, limit)])
        good = keep_models_as_good_as_best(found,
                                           sum(can_fit_use_measurement(load, figure)
                                               for load in deep.loads
                                               for figure in load.figures))
        self.counted = {name: {int(getattr(one, name)) for one in good} for name in COUNTED}
        if not self.has_strided_reads():
            self.counted["one_shot"] = {0, 1}
        return found

    def fit_read_parameters(self, model: Model) -> Model:
        """Fit the parameters that reads and single writes determine."""
        quick = self.select_loads_of_model_trial(
            lambda load: does_load_have_queue_depth_1(load)
            and (does_load_only_read(load) or does_load_show_buffer_latency(load)))
        whole = self.select_loads_of_model_trial(
            lambda load: does_load_only_read(load) or does_load_show_buffer_latency(load))
        deep = self.select_loads_of_model_trial(do_reads_of_load_contend_for_dies)
        times = tuple(name for name in READ_TIMES if name in model.values)
        self.free = ["controller", *times, "bus"]
        self.say("single reads and writes")
        model = fit_model(quick, model, self.free, 3)
        if not deep.loads:
            return model
        self.say("how many dies there are")
        self.free = [*times, *PATHS]
        ranked = self.rank_variants_of_model_geometry(model)
        for _ in range(RANKINGS):
            self.say(f"times of reads, with {ranked[0][1].dies} dies")
            best = choose_models_of_two_best_stripe_sizes(ranked)
            model = rank_models(whole, [fit_model(whole, one, self.free, 3) for one in best])[0][1]
            ranked = self.rank_variants_of_model_geometry(model)
            if ranked[0][1].integer_parameters_of_model() == model.integer_parameters_of_model():
                break
        model = rank_models(whole, [model, fit_model(whole, model, self.free, 2)])[0][1]
        # The measurements do not tell which page type has which time, so assign them in ascending
        # order.
        ordered = sorted(model.values[name] for name in times)
        return model.copy_model_and_set_values(dict(zip(times, ordered, strict=True)))

    def fit_write_parameters(self, model: Model) -> Model:
        """Fit the parameters that sequential writes, and reads during the writes, determine."""
        ordered = self.select_loads_of_model_trial(
            lambda load: load.writes == 1 and load.order == "sequential"
            and not does_load_show_buffer_latency(load))
        besides = self.select_loads_of_model_trial(lambda load: bool(load.beside_rate))
        if not ordered.loads:
            return model
        self.say("programs")
        whole = self.trial.restrict_trial_to_loads((*ordered.loads, *besides.loads))
        fill = max(ordered.loads, key=lambda load: load.bytes)
        each = model.dies * model.stripe * 1e9 / (find_measured_value_of_fio_load(fill, "write",
                                                                                  "rate")
                                                  * fill.size)
        kinds = {bool(one) for one in self.counted.get("one_shot", {0})} or {False}
        # A fill without bursts shows the buffer only by errors of the model, so assume its size.
        bursts = len(ordered.loads) > 1
        sizes = BUFFERS if bursts else (model.values["buffer"],)
        tries = [replace(model, one_shot=three).copy_model_and_set_values(
            {"program": each * (3 if three else 1), "buffer": size})
            for three in sorted(kinds) for size in sizes]
        names = ["program", *["buffer"] * bursts]
        self.free += names
        return fit_model(whole, rank_models(whole, tries)[0][1], names)

    def fit_over_provisioning(self, model: Model) -> Model:
        """Fit over-provisioning to random rewrites."""
        aged = self.select_loads_of_model_trial(
            lambda load: load.writes > 0 and load.order == "random"
            and not does_load_show_buffer_latency(load) and did_load_begin_in_steady_state(load))
        if not aged.loads:
            return model
        self.say("over-provisioning")
        ranked = rank_models(aged, [model.copy_model_and_set_values({"op": op}) for op in SPARES])
        self.free.append("op")
        return fit_model(aged, ranked[0][1], ["op"], 3)

    def fit_all_parameters(self, model: Model) -> Model:
        """Fit all parameters again: a later step may have changed what an earlier step fitted."""
        paths = [name for name in self.free if name not in ("program", "buffer", "op")]
        self.say("everything together")
        if len(self.free) <= len(paths):
            return model
        trial = self.select_loads_of_model_trial(is_load_without_random_flash_writes)
        return fit_model(trial, model, paths, 3)

    def widen_interval_of_controller_time(self, model: Model,
                                          ends: dict[str, tuple[float, float]]) -> None:
        """Widen the interval of the controller's time by that of the link's time of a command.

        Latencies show only the sum of the two. If even the fastest load did not saturate the link
        with commands, the link's time of a command is not determined.
        """
        highest = find_highest_request_rate(self.trial.loads)
        if model.values["link_command"] * highest < LIMITING * 1e9:
            ends["link_command"] = 0.0, math.inf
        low, high = ends.get("controller", (0.0, 0.0))
        if low and not Known("link_command", 0.0,
                             *ends.get("link_command", (0, 0))).is_parameter_determined:
            own = model.values["link_command"]
            most = max(own, 1e9 / find_highest_request_rate(self.trial.loads))
            ends["controller"] = max(1.0, low - (most - own)), high + own

    def list_calibrated_parameters(self, model: Model) -> list[Known]:
        trial = self.select_loads_of_model_trial(did_load_begin_in_steady_state)
        ends = confidence_intervals(trial, model, self.free) if self.free else {}
        self.widen_interval_of_controller_time(model, ends)
        found = []
        for name in COUNTED:
            good = self.counted.get(name, {0, math.inf})
            found.append(Known(name, float(getattr(model, name)), min(good), max(good)))
        return [*found, *(Known(name, number, *ends.get(name, (0.0, math.inf)))
                          for name, number in model.values.items())]


def pair_measured_and_simulated_figures(trial: Trial, model: Model) -> list[Compared]:
    """Return each measured value that informs the fit, with the model's simulated value."""
    return [row for row in trial.simulate_all_loads_with_models([model])[0]
            if can_fit_use_measurement(row[0], row[1])]


def find_drive_model(trial: Trial, say: Callable[[str], None]) -> Found:
    """Return the drive model that explains the measurements best."""
    search = Search(trial, say)
    model = guess_first_model(trial.loads)
    for part in (search.fit_read_parameters, search.fit_write_parameters,
                 search.fit_over_provisioning, search.fit_all_parameters):
        model = part(model)
    say("what the measurements leave open")
    return Found(model, search.list_calibrated_parameters(model),
                 pair_measured_and_simulated_figures(trial, model))
