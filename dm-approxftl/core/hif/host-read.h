/* SPDX-License-Identifier: GPL-2.0-only */
/* Host reads: admission, page reads and failures; private to core/hif. */
#ifndef AFTL_HOST_READ_H
#define AFTL_HOST_READ_H

#include "core/base/types.h"

struct aftl;
struct aftl_lun;
struct aftl_reconstruct;
struct aftl_request;

bool aftl_read_admit_request(struct aftl *ftl, struct aftl_request *request);
void aftl_start_reads_of_partly_written_pages(struct aftl *ftl, struct aftl_request *request);
void aftl_deliver_buffered_partly_written_pages(struct aftl *ftl, struct aftl_request *request);
bool aftl_read_needs_flash(const struct aftl *ftl, aftl_lpn_t lpn);
void aftl_serve_reads_from_running_program(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_read_start_oldest_command(struct aftl *ftl, struct aftl_lun *lun);
struct aftl_lun *aftl_read_fastpath_start(struct aftl *ftl, struct aftl_request *request);
u32 aftl_count_lpns_of_flash_read(struct aftl *ftl, aftl_lpn_t lpn, u32 limit);
void aftl_read_transfer_next_plane(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_read_ahead_start(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_read_handle_arrived_data(struct aftl *ftl, struct aftl_lun *lun, u64 service_ns);
void aftl_read_complete_reconstructed_page(struct aftl *ftl, struct aftl_lun *lun,
					   const struct aftl_reconstruct *repair);
void aftl_read_fail_reconstruction(struct aftl *ftl, struct aftl_lun *lun);
void aftl_read_handle_loaded_trans_page(struct aftl *ftl, struct aftl_lun *lun);
void aftl_read_abort_running_read(struct aftl *ftl, struct aftl_lun *lun);
void aftl_read_fail_queued_reads(struct aftl *ftl, struct aftl_lun *lun);

#endif
