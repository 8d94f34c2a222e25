#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
exec selftests/front-door/on-release trixie
