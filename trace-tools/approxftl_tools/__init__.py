# SPDX-License-Identifier: GPL-2.0-only
"""Looking at what runs, devices and traces have left: tables, figures, reports."""

import sys

#: The process is one of our commands ("python3 -m approxftl_tools.report"), not somebody else's.
IS_COMMAND = sys.argv[:1] == ["-m"]

# Ctrl-C while modules are found ends a command without a word: there is nothing to tidy up. What a
# command does of it later says command.take_signals(). The module signal takes a while, too; what
# it is made of is there from the begin on. start.sh has the signal wait until here.
if IS_COMMAND and "_signal" in sys.modules:
    signals = sys.modules["_signal"]
    if signals.getsignal(signals.SIGINT) is signals.default_int_handler:
        signals.signal(signals.SIGINT, signals.SIG_DFL)
    signals.pthread_sigmask(signals.SIG_UNBLOCK, {signals.SIGINT})
