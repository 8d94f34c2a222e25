/* SPDX-License-Identifier: GPL-2.0-only */
/* Services of the core for policies. */
#ifndef AFTL_POLICY_SERVICES_H
#define AFTL_POLICY_SERVICES_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;

void aftl_policy_services_init(struct aftl *ftl);

/* Number of host commands that wait for @lun. */
u32 aftl_count_queued_commands(const struct aftl_lun *lun);

#endif
