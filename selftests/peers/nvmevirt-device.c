// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device of NVMeVirt's conventional translation layer, conv_ftl.c, without its NVMe queues. The
 * files of the checkout are compiled as they are; the linker's --wrap counts their flash commands.
 */
#include "nvmev.h"
#include "conv_ftl.h"

struct nvmev_dev *nvmev_vdev;

static struct nvmev_dev device;
static struct nvmev_ns name_space;
static struct peer_counts counted;

uint64_t __real_ssd_advance_nand(struct ssd *ssd, struct nand_cmd *command);
uint64_t __wrap_ssd_advance_nand(struct ssd *ssd, struct nand_cmd *command);

uint64_t __wrap_ssd_advance_nand(struct ssd *ssd, struct nand_cmd *command)
{
	if (command->cmd == NAND_WRITE)
		counted.programs += command->xfer_size / ssd->sp.pgsz;
	else if (command->cmd == NAND_ERASE)
		counted.erases++;
	return __real_ssd_advance_nand(ssd, command);
}

/* NVMeVirt's worker thread would free the buffer later; requests never wait for room in it. */
void schedule_internal_operation(int sqid, unsigned long long nsecs_target,
				 struct buffer *write_buffer, size_t buffs_to_release)
{
	buffer_release(write_buffer, buffs_to_release);
}

void peer_init(void)
{
	nvmev_vdev = &device;
	conv_init_namespace(&name_space, 0, FLASH_BYTES, NULL, 0);
}

uint64_t peer_pages(void)
{
	return name_space.size / 4096;
}

uint64_t peer_submit(bool write, uint64_t page)
{
	struct nvme_command command = {};
	struct nvmev_request request = { .cmd = &command, .nsecs_start = peer_now };
	struct nvmev_result result = {};

	command.rw.opcode = write ? nvme_cmd_write : nvme_cmd_read;
	command.rw.slba = page * (4096 / LBA_SIZE);
	command.rw.length = 4096 / LBA_SIZE - 1;
	BUG_ON(!conv_proc_nvme_io_cmd(&name_space, &request, &result));
	return result.nsecs_target;
}

struct peer_counts peer_counts(void)
{
	return counted;
}
