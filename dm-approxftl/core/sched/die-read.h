/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads in the queues of dies: sensing, multi-plane reads, transfers and failures. */
#ifndef AFTL_DIE_READ_H
#define AFTL_DIE_READ_H

#include "core/base/types.h"

struct aftl;
struct aftl_command;
struct aftl_lun;
struct aftl_reconstruct;

u64 aftl_read_sense_page(struct aftl *ftl, struct aftl_command *command, aftl_ppn_t ppn);
void aftl_serve_reads_from_running_program(struct aftl *ftl, struct aftl_lun *lun);
bool aftl_read_start_oldest_command(struct aftl *ftl, struct aftl_lun *lun);
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
