# SPDX-License-Identifier: GPL-2.0-only
"""Looking at what runs, devices and traces have left: tables, figures, reports."""
