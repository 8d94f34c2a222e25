/* SPDX-License-Identifier: GPL-2.0-only */
/* Fine passes, and coarse passes for padding. */
#ifndef AFTL_FINE_PASS_H
#define AFTL_FINE_PASS_H

#include "core/base/types.h"

struct aftl;
struct aftl_fine_pending;
struct aftl_lun;
struct aftl_placement;

struct aftl_fine_pending *aftl_fine_pass_get_due(struct aftl *ftl, struct aftl_lun *lun,
						 struct aftl_placement *placement);
void aftl_fine_pass_commit(struct aftl *ftl, struct aftl_lun *lun,
			   struct aftl_fine_pending *pending,
			   const struct aftl_placement *placement);
bool aftl_commit_coarse_pass_of_padding(struct aftl *ftl, struct aftl_lun *lun, bool moves,
					struct aftl_placement *placement);
void aftl_commit_due_fine_passes_untimed(struct aftl *ftl, struct aftl_lun *lun);

#endif
