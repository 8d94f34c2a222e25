/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of the stripe of a page that RAIN reconstructs. */
#ifndef AFTL_STRIPE_READ_H
#define AFTL_STRIPE_READ_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;

bool aftl_reconstruct_start_read(struct aftl *ftl, struct aftl_lun *lun, u32 kind);
void aftl_reconstruct_read_done(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reconstruct_finish_if_complete(struct aftl *ftl, struct aftl_lun *lun);
void aftl_reconstruct_handle_dead_lun(struct aftl *ftl, struct aftl_lun *lun);

#endif
