// SPDX-License-Identifier: GPL-2.0-only
/* nbdkit-approxftl-plugin: an emulated SSD as a network block device. */
#include <stdlib.h>
#include <sys/prctl.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "nbd-control.h"
#include "nbd-device.h"
#include "nbd-volume.h"
#include "release.h"
#include "shares.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

/* Maximum number of parameters on the command line: more than there are names of parameters. */
#define PAIRS 256

/* Largest request, the limit of nbdkit. */
#define REQUEST_MAX (64U << 20)

/**
 * struct plugin_pair - a parameter of the command line, owned by nbdkit
 */
struct plugin_pair {
	const char *key;
	const char *value;
};

static struct plugin_pair pairs[PAIRS];
static unsigned int pair_count;
static struct nbd_device device;
static struct nbd_volume volume;
static struct nbd_control control;

/* Parameters */

static const char *get_plugin_parameter_value(const char *key)
{
	for (unsigned int i = 0; i < pair_count; i++)
		if (!strcmp(pairs[i].key, key))
			return pairs[i].value;
	return NULL;
}

/* Parameters come in any order, so plugin_config_complete() checks all of them. */
static int plugin_config(const char *key, const char *value)
{
	if (get_plugin_parameter_value(key)) {
		nbdkit_error("%s is given twice", key);
		return -1;
	}
	if (pair_count == PAIRS) {
		nbdkit_error("there are more than %u parameters", PAIRS);
		return -1;
	}
	if (!strcmp(key, "control") ||
	    (!strcmp(key, "store") && strcmp(value, "none") != 0 && strcmp(value, "ram") != 0))
		value = nbdkit_absolute_path(value);
	if (!value)
		return -1;
	pairs[pair_count++] = (struct plugin_pair){ key, value };
	return 0;
}

static int set_plugin_parameter(const struct plugin_pair *pair, struct aftl_error *error)
{
	if (!strcmp(pair->key, "profile") || !strcmp(pair->key, "size") ||
	    !strcmp(pair->key, "control"))
		return 0;
	if (!strcmp(pair->key, "ioprio_hint") || !strcmp(pair->key, "tag_carrier"))
		return aftl_fail(error, -EINVAL,
				 "%s: NBD requests have no I/O priority and no inode; leave it out, tag_all is for all data",
				 pair->key);
	return check_percentage_is_unambiguous(pair->key, pair->value, error) ? :
	       target_line_set_option(&device.line, pair->key, pair->value, error);
}

static int set_plugin_device_size(const char *text, struct aftl_error *error)
{
	struct aftl_error cause;

	if (!text)
		return 0;
	if (aftl_parse_value(AFTL_PARAM_BYTES, NULL, text, &device.bytes, &cause))
		return aftl_fail(error, -EINVAL, "size: %.190s", cause.text);
	if (!device.bytes || device.bytes % NBD_SECTOR)
		return aftl_fail(error, -EINVAL, "size: %.40s is not a multiple of %u bytes", text,
				 NBD_SECTOR);
	if (get_plugin_parameter_value("blocks") || device.volume)
		return 0;
	return target_line_fit_block_count(&device.line, device.bytes / NBD_SECTOR, error);
}

static int check_plugin_table_line(struct aftl_error *error)
{
	const struct aftl_config *config = &device.line.config;
	struct target_size size;
	int ret = target_line_compute_device_size(&device.line, &size, error);

	if (ret)
		return ret;
	if (config->shards > 1)
		return aftl_fail(error, -EINVAL, "shards: nbdkit serves one shard; leave it out");
	if (config->zoned)
		return aftl_fail(error, -EINVAL, "zoned: NBD has no zones; leave it out");
	if (!device.bytes)
		device.bytes = size.sectors * TARGET_SECTOR;
	if (device.bytes > size.sectors * TARGET_SECTOR)
		return aftl_fail(error, -EINVAL,
				 "size: these blocks have room for %llu bytes only; raise blocks or leave it out",
				 (unsigned long long)size.sectors * TARGET_SECTOR);
	return 0;
}

/* Take policy and parameters from the volume; the caller then sets all changeable parameters. */
static int set_table_line_from_volume(const char *path, struct aftl_error *error)
{
	const struct aftl_volume_header *header;
	int ret;

	if (get_plugin_parameter_value("profile"))
		return aftl_fail(error, -EINVAL, "profile: the volume determines it; leave it out");
	ret = nbd_volume_open(&volume, path, error);
	if (ret)
		return ret;
	device.volume = &volume;
	header = aftl_volume_get_header(volume.volume);
	device.line.policy = aftl_policy_find(header->policy);
	if (!device.line.policy)
		return aftl_fail(error, -EINVAL, "%.120s: its policy \"%.40s\" is unknown", path,
				 header->policy);
	device.line.config = header->config;
	return 0;
}

static int set_plugin_table_line(struct aftl_error *error)
{
	const char *profile = get_plugin_parameter_value("profile");
	const char *store = get_plugin_parameter_value("store");
	int ret = 0;

	target_line_init(&device.line);
	device.line.policy = aftl_policy_find(TARGET_LINE_POLICY);
	if (profile)
		ret = target_line_set_option(&device.line, "profile", profile, error);
	if (!ret && store && *store == '/')
		ret = set_table_line_from_volume(store, error);
	for (unsigned int i = 0; !ret && i < pair_count; i++)
		ret = set_plugin_parameter(&pairs[i], error);
	if (!ret)
		ret = set_plugin_device_size(get_plugin_parameter_value("size"), error);
	return ret ? ret : check_plugin_table_line(error);
}

static int plugin_config_complete(void)
{
	struct aftl_error error;

	if (!set_plugin_table_line(&error))
		return 0;
	nbdkit_error("%s", error.text);
	return -1;
}

/* Life */

static int plugin_get_ready(void)
{
	struct aftl_error error;

	/* The threads of requests, which this thread creates, inherit its timer slack of 1 ns. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (!nbd_device_open(&device, &error) &&
	    (!get_plugin_parameter_value("control") ||
	     !nbd_control_open(&control, &device, get_plugin_parameter_value("control"), &error)))
		return 0;
	nbdkit_error("%s", error.text);
	return -1;
}

/* Start the control thread after nbdkit's last fork(), which would not copy it. */
static int plugin_after_fork(void)
{
	int ret = nbd_control_start(&control);

	if (!ret)
		return 0;
	nbdkit_error("%s: no thread: %s", control.path, strerror(-ret));
	return -1;
}

/* Print how late requests were, for nbdkit -v. */
static void print_request_lateness(const struct aftl_histogram *late)
{
	if (late->count)
		nbdkit_debug("%llu requests waited for device time; half of them ended at most %llu ns late, 99 %% at most %llu ns",
			     (unsigned long long)late->count,
			     (unsigned long long)aftl_histogram_quantile(late, 5000),
			     (unsigned long long)aftl_histogram_quantile(late, 9900));
}

static void plugin_cleanup(void)
{
	struct aftl_error error;

	nbd_control_close(&control);
	print_request_lateness(&device.late);
	if (nbd_device_save(&device, &error))
		nbdkit_error("%s", error.text);
	nbd_device_close(&device);
}

static void *plugin_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

/* Properties */

static int64_t plugin_get_size(void *handle)
{
	(void)handle;
	return (int64_t)device.bytes;
}

static int plugin_block_size(void *handle, uint32_t *minimum, uint32_t *preferred,
			     uint32_t *maximum)
{
	(void)handle;
	*minimum = NBD_SECTOR;
	*preferred = max(device.geo->unit_bytes, 4096U);
	*maximum = REQUEST_MAX;
	return 0;
}

static int plugin_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

/* Tell nbdkit that all connections use one device: a flush covers the writes of all of them. */
static int plugin_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

/* Requests */

static int plugin_execute_request(enum aftl_op op, void *bytes, u32 count, u64 offset,
				  uint32_t flags)
{
	int error = nbd_device_execute_request(&device, op, bytes, offset, count,
					       flags & NBDKIT_FLAG_FUA);

	if (!error)
		return 0;
	if (error == -EINVAL)
		nbdkit_error("%u bytes at %llu: not whole sectors of %u; use --filter=blocksize",
			     count, (unsigned long long)offset, NBD_SECTOR);
	nbdkit_set_error(-error);
	return -1;
}

static int plugin_pread(void *handle, void *bytes, uint32_t count, uint64_t offset,
			uint32_t flags)
{
	(void)handle;
	return plugin_execute_request(AFTL_OP_READ, bytes, count, offset, flags);
}

static int plugin_pwrite(void *handle, const void *bytes, uint32_t count, uint64_t offset,
			 uint32_t flags)
{
	(void)handle;
	return plugin_execute_request(AFTL_OP_WRITE, (void *)(uintptr_t)bytes, count, offset,
				      flags);
}

static int plugin_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return plugin_execute_request(AFTL_OP_FLUSH, NULL, 0, 0, 0);
}

/* For the FTL a flush makes a discard durable; the FTL has no FUA discard. */
static int plugin_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	int ret = plugin_execute_request(AFTL_OP_DISCARD, NULL, count, offset, 0);

	return ret || !(flags & NBDKIT_FLAG_FUA) ? ret : plugin_flush(handle, 0);
}

/*
 * Zero whole logical pages by a discard. Zeroes in a part of a page, or that the client wants
 * allocated, are refused here, so that nbdkit writes them as data.
 */
static int plugin_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	int ret;

	if (!(flags & NBDKIT_FLAG_MAY_TRIM) || (offset | count) % device.geo->unit_bytes) {
		nbdkit_set_error(EOPNOTSUPP);
		return -1;
	}
	ret = plugin_execute_request(AFTL_OP_WRITE_ZEROES, NULL, count, offset, 0);
	return ret || !(flags & NBDKIT_FLAG_FUA) ? ret : plugin_flush(handle, 0);
}

/* Report runs of logical pages with data, and runs of pages without data. */
static int plugin_extents(void *handle, uint32_t count, uint64_t offset, uint32_t flags,
			  struct nbdkit_extents *extents)
{
	u32 unit_bytes = device.geo->unit_bytes;
	u64 unit = offset / unit_bytes;
	u64 end = DIV_ROUND_UP(offset + count, unit_bytes);
	int ret = 0;

	(void)handle;
	nbd_device_lock_and_advance(&device);
	while (!ret && unit < end) {
		u64 first = unit;
		u8 data = device.pages[first] & NBD_PAGE_DATA;

		while (unit < end && (device.pages[unit] & NBD_PAGE_DATA) == data)
			unit++;
		ret = nbdkit_add_extent(extents, first * unit_bytes, (unit - first) * unit_bytes,
					data ? 0 : NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO);
		if (flags & NBDKIT_FLAG_REQ_ONE)
			break;
	}
	nbd_device_unlock(&device);
	return ret;
}

#define plugin_config_help                                                            \
	"store=none|ram|FILE   where the data live (default ram); FILE is a volume\n"  \
	"profile=NAME          device to start from (default demo)\n"                  \
	"policy=NAME           flash translation policy (default baseline)\n"         \
	"timing=real|off|scale:N  time as modelled (default), none, or N times as long\n" \
	"tag_all=CLASS         take all data as precise (default) or as approximate\n" \
	"control=PATH          socket for tags by byte range (default none)\n"         \
	"size=SIZE             size of the device (default: what the profile has)\n"   \
	"PARAMETER=VALUE       any parameter that \"approxftl params\" lists"

static struct nbdkit_plugin plugin = {
	.name = "approxftl",
	.longname = "emulated 3D-NAND SSD with approximate storage",
	.version = AFTL_VERSION,
	.description = "Emulates the FTL, the timing, the wear and the bit errors of an SSD.",
	.config = plugin_config,
	.config_complete = plugin_config_complete,
	.config_help = plugin_config_help,
	.magic_config_key = "store",
	.get_ready = plugin_get_ready,
	.after_fork = plugin_after_fork,
	.cleanup = plugin_cleanup,
	.open = plugin_open,
	.get_size = plugin_get_size,
	.block_size = plugin_block_size,
	.can_fua = plugin_can_fua,
	.can_multi_conn = plugin_can_multi_conn,
	.pread = plugin_pread,
	.pwrite = plugin_pwrite,
	.flush = plugin_flush,
	.trim = plugin_trim,
	.zero = plugin_zero,
	.extents = plugin_extents,
};

NBDKIT_REGISTER_PLUGIN(plugin)
