# SPDX-License-Identifier: GPL-2.0-only
"""Functions that all commands share: exit status, error messages, first keys of JSON output."""

import argparse
import difflib
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from types import FrameType
from typing import Any, NoReturn, TextIO

from approxftl_tools import IS_COMMAND
from approxftl_tools.file_claims import CLAIMS, STANDARD
from approxftl_tools.output import output_path, temporary_output, write_file
from approxftl_tools.refusal import (
    DONE,
    FAILED,
    INTERRUPTED,
    NOT_FOUND,
    NOT_VERIFIED,
    USAGE,
    Refusal,
)

__all__ = [
    "CLAIMS",
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "NOT_FOUND",
    "NOT_VERIFIED",
    "STANDARD",
    "USAGE",
    "Refusal",
    "add_json_option",
    "make_common_keys_of_json_documents",
    "make_verb_parser",
    "output_path",
    "refuse_malformed_documents",
    "run_command",
    "suggest_known_word",
    "temporary_output",
    "wrap_help_text",
    "write_file",
    "write_json_document",
]

#: Version of the JSON documents: a minor version adds keys, a major one changes them.
JSON_FORMAT = [1, 0]
HELP_WIDTH = 98


def suggest_known_word(wrong: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a suffix for an error message that suggests the nearest known word, if any."""
    near = difflib.get_close_matches(wrong, list(known), 1)
    return f"; did you mean {near[0]}?" if near else otherwise


class Parser(argparse.ArgumentParser):
    """A parser with the syntax and error messages of the commands in C."""

    words: Sequence[str] = ()

    def join_options_with_their_values(self, words: Sequence[str]) -> Iterator[str]:
        """Rewrite "-S -used" as "--sort=-used", and "--json" so that argparse gives it no FILE."""
        rest = iter(words)
        for word in rest:
            if word == "--":
                yield word
                yield from rest
            elif word in ("-j", "--json") and word in self._option_string_actions:
                yield f"--json={STANDARD}"
            elif word in ("-S", "--sort") and word in self._option_string_actions:
                value = next(rest, None)
                yield word if value is None else f"--sort={value}"
            else:
                yield word

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Convert the value of an option; word the error without the Python function's name."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            if isinstance(error.__context__, ValueError):
                raise argparse.ArgumentError(action, f'"{arg_string}" is not a number') from None
            raise

    def accept_old_option_name(self, old: str, new: str) -> None:
        """Accept an option by its old name, too, which --help does not list."""
        self._option_string_actions[old] = self._option_string_actions[new]

    def is_json_help_wanted(self) -> bool:
        """Tell whether --help=json asks for the command itself and not for one of its verbs."""
        for word in self.words:
            if word == "--" or (self._subparsers and not word.startswith("-")):
                return False
            if word == "--help=json":
                return True
        return False

    def options_as_json(self) -> dict[str, Any]:
        """Return the command's options as JSON, in the format that the commands in C print."""
        found = []
        for action in self._actions:
            names = {len(name) > 2: name.lstrip("-") for name in action.option_strings}
            if True in names:
                value = "" if action.nargs == 0 else str(
                    action.metavar or f"{{{','.join(map(str, action.choices or ()))}}}")
                found.append({"name": names[True], "letter": names.get(False, ""), "value": value,
                              "value_may_lack": action.nargs == "?", "help": action.help or ""})
        return {"approxftl_json_format": JSON_FORMAT,
                "command": self.prog.removeprefix("approxftl "), "options": found}

    def parse_known_args(  # type: ignore[override]
            self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        """Parse the command line; refuse unknown words."""
        self.words = list(self.join_options_with_their_values(sys.argv[1:] if args is None
                                                              else args))
        if self.is_json_help_wanted():
            print(json.dumps(self.options_as_json(), indent=1))
            sys.exit(DONE)
        found, others = super().parse_known_args(self.words, namespace)
        # argparse would pass a verb's unknown words to its parent, which does not know the options.
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return found, others

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help text; unlike argparse's method, do not ignore a failed write."""
        if message:
            (file or sys.stderr).write(message)

    def unknown_option_error(self, others: Sequence[str]) -> str:
        """Return an error message about the first unknown option; empty if there is none."""
        known = self._option_string_actions
        for word in (*self.words, *others):
            name = word.split("=")[0]
            if re.match("--[a-z]", word) and name not in known:
                return f'unknown option "{name}"' + suggest_known_word(
                    name, (one for one in known if one[:2] == "--"))
            if re.match("-[A-Za-z]", word) and word[:2] not in known:
                return f'unknown option "{word}"'
        return ""

    def describe_misplaced_json_file_name(self, others: Sequence[str]) -> str:
        """Return an error message about a file name after --json; empty if there is none."""
        for before, word in pairwise(self.words):
            if before == f"--json={STANDARD}" and word in others:
                return f'"{word}" is one word too many; did you mean --json={word}?'
        return ""

    def error(self, message: str) -> NoReturn:
        """Print a one-line error and exit; report an unknown option before a missing argument."""
        if message.startswith(("the following arguments", "unrecognized", "one of the arguments")):
            others = message.split(": ")[-1].split()
            message = self.unknown_option_error(others) or \
                self.describe_misplaced_json_file_name(others) or message
        sys.stderr.write(f"{self.prog}: {message}; "
                         f'"{self.prog} --help" lists the options\n')
        sys.exit(USAGE)


def make_verb_parser(verb: str, summary: str, epilog: str = "") -> Parser:
    return Parser(prog=f"approxftl {verb}", description=summary, epilog=epilog,
                  formatter_class=make_fixed_width_help_formatter, allow_abbrev=False)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-j", "--json", metavar="FILE", nargs="?", const=STANDARD, type=output_path,
                        help="answer as JSON, to standard output or a file")


def make_integer_parser(least: int, most: int, written: str = "") -> Callable[[str], int]:
    """Return a parser of bounded integers; its errors show the maximum as `written`, if given."""
    def parse_bounded_integer(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least} to {written or most}")
        return value

    return parse_bounded_integer


def write_json_document(file: Path, document: Any) -> None:
    write_file(file, json.dumps(document, indent=1) + "\n")


def wrap_help_text(text: str) -> str:
    """Return a paragraph wrapped to the width of help texts."""
    return fill(text, HELP_WIDTH, break_on_hyphens=False)


class Help(argparse.RawDescriptionHelpFormatter):
    """A help formatter with the style of the commands in C."""

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action],
                  groups: Iterable[Any], prefix: str | None = None) -> None:
        """Begin the usage line of the help with "Usage:"; argparse writes "usage:"."""
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Show an option's short and long form with one value, as the commands in C do."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return ", ".join(action.option_strings) + (
            f"[={action.metavar}]" if action.nargs == "?" else f" {value}")


def make_fixed_width_help_formatter(prog: str) -> argparse.HelpFormatter:
    return Help(prog, max_help_position=28, width=HELP_WIDTH)


def raise_interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt on a signal, so that partial results are kept as with Ctrl-C."""
    raise KeyboardInterrupt


def make_stream_print_any_file_name(number: int, stream: TextIO | None) -> TextIO:
    """Return a standard stream that can print any file name."""
    if stream is None:
        # The descriptor was closed. Occupy it, or the next opened file would get it and receive
        # this stream's output. The stand-in refuses every access.
        stand_in = os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY)
        if stand_in != number:
            os.dup2(stand_in, number)
            os.close(stand_in)
        stream = open(number, "w" if number else "r", closefd=False)  # noqa: SIM115
    if number and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream


def restore_signal_handlers() -> None:
    """Restore the default signal handlers, after KeyboardInterrupt has been handled."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT) if IS_COMMAND else ():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def refuse_malformed_documents(paths: Iterable[Path]) -> Iterator[None]:
    """Raise Refusal for a JSON document whose values have wrong types or are missing."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError,
            ZeroDivisionError) as error:
        raise Refusal(f"{', '.join(map(str, paths))}: a value is not as its program writes it "
                      f"({type(error).__name__}: {error})") from error


def print_message(verb: str, sentence: str) -> None:
    """Print a message to standard error, unless that is closed."""
    with suppress(OSError):
        sys.stderr.write(f"approxftl {verb}: {sentence}\n")
        sys.stderr.flush()


def run_main_function_for_exit_status(verb: str, body: Callable[[], int]) -> int:
    """Run `body`, a command's main function; return the exit status, print errors as messages."""
    try:
        for number in (signal.SIGTERM, signal.SIGHUP, *((signal.SIGINT,) if IS_COMMAND else ())):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, raise_interrupt)
        status = body()
        restore_signal_handlers()
        return status
    except Refusal as refusal:
        print_message(verb, str(refusal))
        return refusal.status
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else DONE
    except KeyboardInterrupt:
        restore_signal_handlers()
        print_message(verb, "interrupted")
        return INTERRUPTED
    except RecursionError:
        print_message(verb,
                      "an input is nested too deeply to be one that a program here has written")
        return FAILED
    except MemoryError as error:
        print_message(verb, f"no memory: {error}" if str(error) else "no memory")
        return FAILED


def flush_stdout_and_choose_exit_status(verb: str, status: int) -> int:
    """Flush standard output and return the status; a full disk must not pass for success."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return choose_exit_status_of_failed_write(verb, status, error)
    return status


def choose_exit_status_of_failed_write(verb: str, status: int, error: OSError) -> int:
    """Return the exit status after a failed write to standard output."""
    # Discard buffered output: a later flush would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if error.errno == errno.EPIPE:
        # The reader of the pipe has closed it on purpose, which is no error.
        return status
    print_message(verb, f"standard output: cannot write: {error.strerror}")
    return status or FAILED


def run_command(verb: str, body: Callable[[], int]) -> int:
    """Run a command and return its exit status; `body` also parses the command line."""
    CLAIMS.forget_claimed_files()
    sys.stdin = make_stream_print_any_file_name(0, sys.stdin)
    sys.stdout = make_stream_print_any_file_name(1, sys.stdout)
    sys.stderr = make_stream_print_any_file_name(2, sys.stderr)
    try:
        status = run_main_function_for_exit_status(verb, body)
    except OSError as error:
        if error.filename is None:
            return choose_exit_status_of_failed_write(verb, DONE, error)
        print_message(verb, f"{error.filename}: {error.strerror}")
        status = FAILED
    restore_signal_handlers()
    return flush_stdout_and_choose_exit_status(verb, status)


def simulator_path() -> Path:
    """Return the absolute path of the simulator, or its bare name if it is not found.

    A wheel contains a simulator, which is used if there is none in PATH.
    """
    name = os.environ.get("APPROXFTL", "approxftl")
    found = shutil.which(name)
    own = Path(__file__).resolve().parents[1] / "approxftl/approxftl-sim"
    if not found and name == "approxftl" and own.exists():
        return own
    return Path(found).absolute() if found else Path(name)


@cache
def simulator_version() -> str:
    try:
        done = subprocess.run([simulator_path(), "version"], capture_output=True, text=True,
                              timeout=30, check=False)
    except OSError:
        return "unknown"
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout else "unknown"


def make_common_keys_of_json_documents(verb: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return the keys that every JSON document begins with."""
    return {
        "approxftl_json_format": JSON_FORMAT,
        "tool": {"version": simulator_version(), "argv": ["approxftl", verb, *argv]},
    }
