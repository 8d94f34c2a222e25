#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# approxftl @VERB@, which is a module of the Python package approxftl_tools. Installed, the package
# is in ../lib/approxftl/python; in a build directory the file python-tools says where it is.
set -eu

own=$(readlink -f "$0")
here=${own%/*}
python=python3
if [ -r "$here/python-tools" ]; then
	{
		read -r package
		read -r venv
	} <"$here/python-tools"
	if [ -x "$venv/bin/python3" ]; then
		python=$venv/bin/python3
	fi
else
	package=${here%/*}/lib/approxftl/python
fi
if [ -x "$here/approxftl" ]; then
	APPROXFTL=${APPROXFTL:-$here/approxftl}
	export APPROXFTL
fi
if ! "$python" -c 'import numpy' 2>/dev/null; then
	echo "approxftl-@VERB@: $python has no numpy; install it (python3-numpy)" >&2
	exit 1
fi
PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
exec "$python" -B -m approxftl_tools.@VERB@ "$@"
