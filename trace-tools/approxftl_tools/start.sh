#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl @VERB@, a command in Python; `make` replaces the word between @.
# The Python package is in ../lib/approxftl/python if installed, else in the source tree.
set -eu

own=$(readlink -f "$0")
here=${own%/*}
venv=
if [ -r "$here/python-tools" ]; then
	{
		read -r package
		read -r venv
	} <"$here/python-tools"
else
	package=${here%/*}/lib/approxftl/python
fi
if [ -x "$here/approxftl" ]; then
	APPROXFTL=${APPROXFTL:-$here/approxftl}
	export APPROXFTL
fi

# Set $wanted to the Python modules that the command needs.
# shellcheck disable=SC2194 # make replaces the word between @
case @VERB@ in
parquet) wanted='numpy pyarrow' ;;
figures | report) wanted='numpy jinja2 vl_convert' ;;
calibrate | drives | study | worn) wanted='numpy jinja2' ;;
weights) wanted='numpy sklearn' ;;
*) wanted=numpy ;;
esac

# Ignore the caller's Python settings and, with -P, modules in the working directory.
# A Python too old for the option -P is too old for the package.
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP

# In the project's own Python environment a module works if its directory exists.
has_folders() # MODULE...
{
	version=$(readlink -f "$venv/bin/python3") || return 1
	for module; do
		[ -d "$venv/lib/${version##*/}/site-packages/$module" ] || return 1
	done
}

# has PYTHON MODULE...: return true if PYTHON is version 3.11 or later and has each MODULE
# In the project's own Python environment, test only if modules exist, as importing numpy is slow.
has()
{
	command -v "$1" >/dev/null || return 1
	interpreter=$1
	shift
	if [ "$interpreter" = "${venv:+$venv/bin/python3}" ]; then
		! has_folders "$@" || return 0
	else
		"$interpreter" -P -c 'import numpy' 2>/dev/null || return 1
	fi
	"$interpreter" -P -c 'import sys, importlib.util as modules
sys.exit(sys.version_info < (3, 11) or not all(map(modules.find_spec, sys.argv[1:])))' "$@" 2>/dev/null
}

# Prefer the interpreters for which `make deps` installs packages: the project's and the system's.
# The python3 that is first in PATH may have packages that the system's python3 lacks.
python=
for modules in "$wanted" numpy; do
	for candidate in ${venv:+"$venv/bin/python3"} /usr/bin/python3 python3; do
		# shellcheck disable=SC2086 # words
		[ -n "$python" ] || ! has "$candidate" $modules || python=$candidate
	done
done
if [ -z "$python" ]; then
	echo "approxftl @VERB@: neither /usr/bin/python3 nor $(command -v python3 || echo another) is" \
		'Python 3.11 or later with numpy: apt-get install python3-numpy' >&2
	exit 1
fi
PYTHONPATH=$package
export PYTHONPATH
# In a source tree let Python find libapproxftl in the build directory.
if [ -r "$here/libapproxftl.so.1" ]; then
	LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here
	export LD_LIBRARY_PATH
fi
# Use one thread for numpy: on the small matrices of these commands threads mostly wait.
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
# Python writes bytecode only where PYTHONPYCACHEPREFIX says, not beside the package.
unwritten=-B
[ -z "${PYTHONPYCACHEPREFIX:-}" ] || unwritten=
# Block SIGINT until the package handles it; otherwise Python would print a traceback.
exec env --block-signal=INT "$python" -P $unwritten -m approxftl_tools.@VERB@ "$@"
