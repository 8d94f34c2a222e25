# SPDX-License-Identifier: GPL-2.0-only
"""numpy, which is loaded when it is first used.

That takes as long as all the rest of a verb's start, and who asks for help, or has a word wrong,
does not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """What numpy has, under the same names."""

        def __getattr__(self, name: str) -> object:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()

__all__ = ["np"]
