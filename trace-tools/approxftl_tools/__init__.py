# SPDX-License-Identifier: GPL-2.0-only
"""Tables, figures and reports of runs, devices and traces."""

import sys

#: True if Python runs one of our commands ("python3 -m approxftl_tools.report"); false if another
#: program imports the package.
IS_COMMAND = sys.argv[:1] == ["-m"]

# Ctrl-C while modules load ends a command silently: there is nothing to tidy up yet.
# command.take_signals() installs the handler for later. Importing the module signal takes time; its
# built-in part _signal is loaded from the start. start.sh blocks SIGINT until this point.
if IS_COMMAND and "_signal" in sys.modules:
    signals = sys.modules["_signal"]
    if signals.getsignal(signals.SIGINT) is signals.default_int_handler:
        signals.signal(signals.SIGINT, signals.SIG_DFL)
    signals.pthread_sigmask(signals.SIG_UNBLOCK, {signals.SIGINT})
