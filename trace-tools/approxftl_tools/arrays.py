# SPDX-License-Identifier: GPL-2.0-only
"""Load numpy at first use.

The import takes as long as the rest of a verb's start, and neither --help nor a usage error needs
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """A stand-in with numpy's attributes that imports numpy when one is first read."""

        def __getattr__(self, name: str) -> object:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["np"]
