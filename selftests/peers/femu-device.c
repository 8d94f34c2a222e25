// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device of FEMU's black-box translation layer, without QEMU. The files of the checkout are
 * compiled as they are. FEMU has no over-provisioning of its own; the size of the disk's memory
 * gives the capacity of the host, here HOST_PAGES.
 */
#include "bbssd/ftl.h"
#include "bbssd/ftl-internal.h"

static FemuCtrl controller;
static struct ssd ssd;
static NvmeNamespace name_space = { .ssd = &ssd };

/* Data placement and tables of cell types are off; a call of their functions ends the program. */
void end_program(void)
{
	abort();
}

#define OFF(function) extern typeof(function) function __attribute__((alias("end_program")))
OFF(nvme_do_write_fdp);
OFF(ssd_init_fdp_params);
OFF(femu_fdp_ssd_init_reclaim_group);
OFF(femu_fdp_ssd_init_ru_handles);
OFF(do_gc_fdp_style);
OFF(ssd_trim_fdp_style);
OFF(init_nand_flash);
OFF(get_page_type);
OFF(get_page_read_latency);
OFF(get_page_write_latency);
OFF(get_blk_erase_latency);

void peer_init(void)
{
	controller.bb_params = (BbCtrlParams) {
		.secsz = 512, .secs_per_pg = 8, .pgs_per_blk = BLOCK_PAGES, .blks_per_pl = BLOCKS,
		.pls_per_lun = 1, .luns_per_ch = WAYS, .nchs = CHANNELS,
		.pg_rd_lat = READ_NS, .pg_wr_lat = PROGRAM_NS, .blk_er_lat = ERASE_NS,
		.gc_thres_pcent = GC_PERCENT, .gc_thres_pcent_high = GC_PERCENT_HIGH,
	};
	ssd.ssdname = "FEMU";
	ssd_init(&controller, &name_space);
}

uint64_t peer_pages(void)
{
	return HOST_PAGES;
}

uint64_t peer_submit(bool write, uint64_t page)
{
	NvmeRequest request = { .slba = page * 8, .nlb = 8, .stime = peer_now, .ns = &name_space };

	request.cmd.opcode = write ? NVME_CMD_WRITE : NVME_CMD_READ;
	return peer_now + bb_ftl_process_req(&controller, &name_space, &request);
}

struct peer_counts peer_counts(void)
{
	struct peer_counts counts = { .programs = ssd.host_write_pages + ssd.gc_write_pages };

	for (int ch = 0; ch < CHANNELS; ch++)
		for (int lun = 0; lun < WAYS; lun++)
			for (int blk = 0; blk < BLOCKS; blk++)
				counts.erases += ssd.ch[ch].lun[lun].pl[0].blk[blk].erase_cnt;
	return counts;
}
