/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission of host reads; private to core/hif. */
#ifndef AFTL_HOST_READ_H
#define AFTL_HOST_READ_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;
struct aftl_request;

bool aftl_read_admit_request(struct aftl *ftl, struct aftl_request *request);
void aftl_start_reads_of_partly_written_pages(struct aftl *ftl, struct aftl_request *request);
void aftl_deliver_buffered_partly_written_pages(struct aftl *ftl, struct aftl_request *request);
bool aftl_read_needs_flash(const struct aftl *ftl, aftl_lpn_t lpn);
struct aftl_lun *aftl_read_fastpath_start(struct aftl *ftl, struct aftl_request *request);
u32 aftl_count_lpns_of_flash_read(struct aftl *ftl, aftl_lpn_t lpn, u32 limit);

#endif
