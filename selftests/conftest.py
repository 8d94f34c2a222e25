# SPDX-License-Identifier: GPL-2.0-only
"""Settings of all Python tests: no test of hypothesis fails because the machine is busy."""

from hypothesis import HealthCheck, settings

settings.register_profile("busy-machine", deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy-machine")
