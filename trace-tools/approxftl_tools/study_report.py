# SPDX-License-Identifier: GPL-2.0-only
"""Write a page of a study: summary, figures, tables."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from approxftl_tools import live, study_table
from approxftl_tools.colours import COLOURS, SHADES, assign_figure_colours
from approxftl_tools.figure import Dots, Figure, Hue
from approxftl_tools.page import Json, figure_template_data, render_html_page
from approxftl_tools.statistics import Estimate
from approxftl_tools.study_figure import Spec, draw_figure_of_study
from approxftl_tools.study_plan import DEFAULT, Plan, Yardstick
from approxftl_tools.study_table import (
    Group,
    axis_title,
    find_group_with_reference_value,
    group_folder_results_ignoring_seed,
    measure_title,
)


def collect_ratios_by_policy(groups: Sequence[Group], yardstick: Yardstick, measure: str
                             ) -> dict[str, list[Estimate]]:
    """Return the mean ratios of a measure to the reference, by policy (or axis value)."""
    by_policy: dict[str, list[Estimate]] = {}
    for group in groups:
        base = find_group_with_reference_value(group, groups, yardstick)
        found = group.estimate_ratio_to_group(base, measure) if base and base is not group else None
        if found:
            by_policy.setdefault(str(group.varied[yardstick.axis]), []).append(found)
    return by_policy


def describe_certainty_of_ratios(found: Sequence[Estimate]) -> str:
    known = [one for one in found if one.half is not None]
    wide = [one for one in known if not one.are_samples_equal_up_to_rounding]
    sure = [one for one in wide if one.half is not None and abs(one.mean - 1) > one.half]
    if not known:
        return "one seed gives no interval"
    if not wide:
        return "the ratio is the same for each seed, which gives no interval"
    if len(known) > 1:
        equal = len(known) - len(wide)
        return (f"{len(sure)} of {len(wide)} intervals of 95 % exclude 1 (no difference)"
                + (f"; {equal} ratios are the same for each seed, which gives no interval"
                   if equal else ""))
    return "the interval of 95 % " + ("excludes 1 (no difference)" if sure else
                                      "includes 1: the difference may be chance")


def ratio_sentence(name: str, found: Sequence[Estimate], yardstick: str, measure: str) -> str:
    """Return a sentence about a policy's least and greatest ratio of a measure to the reference."""
    least, most = (pick(found, key=lambda one: one.mean) for pick in (min, max))

    def ratio_text(one: Estimate) -> str:
        width = "" if one.low is None or one.are_samples_equal_up_to_rounding else \
            f" ({one.low:.3f} to {one.high:.3f})"
        return f"{one.mean:.3f}{width}"

    span = ratio_text(least)
    if len(found) > 1:
        span = f"from {span} to {ratio_text(most)}"
    title = measure_title(measure)
    return (f"{title}: {name} has {span} times that of {yardstick}; "
            f"{describe_certainty_of_ratios(found)}.")


def comparison_sentences(groups: Sequence[Group], yardstick: Yardstick, measure: str) -> list[str]:
    """Return a sentence for each axis value that is compared with the reference value."""
    return [ratio_sentence(name, found, yardstick.value, measure) for name, found
            in collect_ratios_by_policy(groups, yardstick, measure).items()]


def warning_about_unsteady_runs(results: Sequence[Json]) -> str:
    """Return a sentence that counts the runs that were not in steady state, or an empty text."""
    signs = [one["unsteady"] for one in results if "unsteady" in one]
    start = "start them with --fill-overwrite 100%, or " if any("free_blocks" in one
                                                               for one in signs) else ""
    return (f" But {len(signs)} of {len(results)} runs were not in steady state: {start}raise "
            "--warmup.") if signs else ""


def make_first_sentence_of_study(groups: Sequence[Group], yardstick: Yardstick,
                                 keys: Sequence[str]) -> str:
    """Return a report's first sentence, which names the best policy by the first measure.

    If the measure is a mean, a second sentence has the policy's tail.
    """
    for measure in keys:
        by_policy = collect_ratios_by_policy(groups, yardstick, measure)
        if not by_policy:
            continue
        best = min(by_policy, key=lambda name: fmean(one.mean for one in by_policy[name]))
        tail = measure.replace("_mean_ns", "_p99_ns")
        tails = collect_ratios_by_policy(groups, yardstick, tail).get(best, [])
        said = [ratio_sentence(best, by_policy[best], yardstick.value, measure)]
        if tail in keys and tail != measure and tails:
            said.append(ratio_sentence(best, tails, yardstick.value, tail))
        return " ".join(said)
    return ""


def make_figures_of_ratios(groups: Sequence[Group], yardstick: Yardstick, keys: Sequence[str]
                           ) -> list[Figure]:
    """Return a figure of the ratios to the reference value, for a study without [[figure]].

    There is none without ratios, and none if the compared means are more than the colours.
    """
    compared = [(group, base) for group in groups
                if (base := find_group_with_reference_value(group, groups, yardstick))
                and base is not group]
    shown = [key for key in keys
             if any(group.estimate_ratio_to_group(base, key) for group, base in compared)]
    if not shown or len(compared) > COLOURS:
        return []
    others = [axis for axis in compared[0][0].varied if axis != yardstick.axis
              and len({str(group.varied[axis]) for group, _ in compared}) > 1]
    series = [(", ".join([str(group.varied[yardstick.axis]),
                          *(f"{axis_title(axis)} {group.varied[axis]}" for axis in others)]),
               [group.estimate_ratio_to_group(base, key) for key in shown])
              for group, base in compared]
    sure = ("the mean over the seeds, each beside the same seed of the other, and its interval of "
            "95 %. Left of the line is less; an interval that reaches across it may be chance"
            if any(len(group.runs) > 1 for group, _ in compared) else
            "one seed, which gives no interval. Left of the line is less")
    return [Figure("ratios", f"Ratios to {yardstick.value}",
                   f"How many times that of {yardstick.value} a measure is: {sure}.",
                   Dots([measure_title(key) for key in shown], series,
                        f"times that of {yardstick.value}", mark=1.0))]


def list_policies_of_study(groups: Sequence[Group]) -> list[str]:
    """Return the policies of a study, in the order in which the study names them."""
    return list(dict.fromkeys(str(group.varied["policy"]) for group in groups))


def chart_template_data(figures: Sequence[Figure], policies: Sequence[str]) -> tuple[list[Json],
                                                                                     Json | None]:
    """Return the figures' data for the page, and Vega's scripts (None without vl-convert)."""
    known = {name: Hue("s", i % COLOURS, i // COLOURS % SHADES)
             for i, name in enumerate(dict.fromkeys(policies))}
    code = live.build_script_bundle() if figures else None
    found = [assign_figure_colours(one, known) for one in figures]
    return ([figure_template_data(one, live.specification_as_json(one) if code else "")
             for one in found],
            live.make_scripts_of_figure_page(code) if code else None)


def describe_mean_values_of_study(groups: Sequence[Group], yardstick: Yardstick,
                                  keys: Sequence[str], drawn: Sequence[str] = ()) -> Json:
    """Return sentences about the means of a study, and a table for each measure.

    The tables of drawn measures and of tails come first on the page.
    """
    rows = study_table.make_rows_of_means_and_ratios(groups, yardstick, keys)
    axes = [key for key in groups[0].varied if rows] if groups else []
    tables = []
    for key in keys:
        columns = [*axes, *(name for name in (key, f"{key}_ratio") if rows and name in rows[0])]
        there = [row for row in rows if row[key] is not None]
        if there and any(row[key] for row in there):
            tables.append({"caption": measure_title(key), "first": key in drawn or "_p99" in key,
                           "head": [*map(axis_title, axes), "mean",
                                                                   "ratio"][:len(columns)],
                           "rows": [[study_table.format_value_and_interval(row, name)
                                     for name in columns]
                                    for row in there]})
    return {"said": [one for key in keys for one in comparison_sentences(groups, yardstick, key)],
            "tables": tables}


def draw_figures_of_page(plan: Plan, specs: Sequence[Spec], groups: Sequence[Group],
                         keys: Sequence[str]) -> list[Figure]:
    """Return the figures of a study, or of the ratios if the study describes no figure."""
    return [draw_figure_of_study(plan, spec, groups) for spec in specs] or \
        make_figures_of_ratios(groups, plan.rules.yardstick, keys)


def make_page_of_study(plan: Plan, specs: Sequence[Spec], drawn: Sequence[Figure],
                       groups: Sequence[Group], keys: Sequence[str]) -> str:
    first = [key for spec in specs for key in spec.y if key in keys]
    figures, bundle = chart_template_data(drawn, list_policies_of_study(groups))
    answer = make_first_sentence_of_study(groups, plan.rules.yardstick, [*first, *keys])
    if answer and plan.rules.warmup != "ignore":
        answer += warning_about_unsteady_runs([run for one in groups for run in one.runs.values()])
    return render_html_page("study.html", plan.name, text=plan.text, points=len(plan.points),
                            bundle=bundle,
                            runs=sum(len(group.runs) for group in groups), count=len(groups),
                            first=" ".join(plan.points[0].arguments), figures=figures,
                            answer=answer, file=plan.path.name,
                            **describe_mean_values_of_study(groups, plan.rules.yardstick, keys,
                                                            first))


def make_result_tables_of_folder(root: Path) -> list[Json]:
    """Return tables of all results in a folder: one table for points with equal fixed options."""
    parts = []
    for rest, groups in group_folder_results_ignoring_seed(root).items():
        policies = [str(group.varied["policy"]) for group in groups]
        yardstick = "baseline" if "baseline" in policies else policies[0]
        parts.append({"rest": rest,
                      **describe_mean_values_of_study(groups, Yardstick(yardstick), DEFAULT)})
    return parts
