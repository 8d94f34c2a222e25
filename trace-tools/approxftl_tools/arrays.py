# SPDX-License-Identifier: GPL-2.0-only
"""Load numpy at first use, because its import takes half of the time that a command needs to start.

Neither --help nor a usage error needs numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """A stand-in for numpy that imports numpy when an attribute is first read."""

        def __getattr__(self, name: str) -> object:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["np"]
