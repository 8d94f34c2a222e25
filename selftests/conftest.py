# SPDX-License-Identifier: GPL-2.0-only
"""Settings of all Python tests. No example of hypothesis has a deadline: machines may be busy."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
