/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of QEMU that FEMU's translation layer calls, and, instead of FEMU's nvme.h, structures
 * with the members that the layer reads. A member that nobody sets keeps its feature switched off.
 */
#ifndef PEERS_QEMU_STUBS_H
#define PEERS_QEMU_STUBS_H

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qemu/queue.h"
#include "inc/pqueue.h"

#include "closed-queue.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define unlikely(condition) (condition)
#define le64_to_cpu(value) (value)
#define le32_to_cpu(value) (value)
#define error_setg(error, ...) ((void)(error))
#define g_malloc0(size) calloc(1, size)
#define g_malloc(size) malloc(size)
#define g_free(memory) free(memory)
#define g_new0(type, count) ((type *)calloc(count, sizeof(type)))

#define QEMU_CLOCK_REALTIME 0
#define qemu_clock_get_ns(clock) ((int64_t)peer_now)

/* The values are the NVMe specification's, or free where the layer only compares them. */
enum { NVME_CMD_WRITE = 1, NVME_CMD_READ = 2, NVME_CMD_DSM = 9 };
enum { NVME_SUCCESS, NVME_LBA_RANGE, NVME_WRITE_FAULT, NVME_UNRECOVERED_READ, NVME_DNR };
enum { SLC = 1, QLC = 4 };

typedef struct Error Error;
typedef struct NvmeReclaimUnit NvmeReclaimUnit;
typedef struct NvmeRuHandle NvmeRuHandle;
typedef int QemuThread;

typedef struct {
	uint32_t cattr, nlb;
	uint64_t slba;
} NvmeDsmRange;

typedef struct {
	int secsz, secs_per_pg, pgs_per_blk, blks_per_pl, pls_per_lun, luns_per_ch, nchs;
	int pg_rd_lat, pg_wr_lat, blk_er_lat, ch_xfer_lat, gc_thres_pcent, gc_thres_pcent_high;
	int cell_pages, pgtype_lat, ecc_step_ns, cmd_addr_lat, pg_xfer_lat, status_lat;
	int tplpbsy, tplrbsy, tplebsy, trcbsy, trim_lat_ns;
	char *gc_policy, *cache_evict, *mapping_scheme;
} BbCtrlParams;

typedef struct {
	BbCtrlParams bb_params;
	bool debug_ftl;
	int nand_cell_type;
	uint32_t err_read_unc_ppm, err_write_fail_ppm, nand_bad_blocks;
	uint32_t mapping_cache_mb, read_cache_mb;
	struct {
		struct { struct { bool enabled; } fdp; } params;
	} *subsys;
	struct { void *logical_space; int64_t size; } *mbe;
} FemuCtrl;

typedef struct {
	struct ssd *ssd;
	uint64_t backend_offset;
} NvmeNamespace;

typedef struct {
	struct { uint8_t opcode; } cmd;
	uint64_t slba;
	int nlb;
	int64_t stime;
	uint16_t status;
	NvmeNamespace *ns;
	NvmeDsmRange *dsm_ranges;
	int dsm_nr_ranges;
	uint32_t dsm_attributes;
} NvmeRequest;

uint64_t bb_ftl_process_req(FemuCtrl *n, NvmeNamespace *ns, NvmeRequest *req);
uint64_t nvme_do_write_fdp(FemuCtrl *n, NvmeRequest *req, uint64_t slba, uint32_t nlb);
void init_nand_flash(FemuCtrl *n);
uint8_t get_page_type(int flash_type, int page);
int get_page_read_latency(int flash_type, int page_type);
int get_page_write_latency(int flash_type, int page_type);
int get_blk_erase_latency(int flash_type);

#endif
