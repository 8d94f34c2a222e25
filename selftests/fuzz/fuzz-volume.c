// SPDX-License-Identifier: GPL-2.0-only
/*
 * A used volume with changed metadata is refused with a message, or yields a consistent device. The
 * input is a list of changes: offset, length and bytes. Checksums are fixed afterwards, or nothing
 * else would be tested. Metadata that still decode must encode to the same bytes.
 */
#include "core/base/encoding.h"
#include "lib/fuzz.h"
#include "core/persist/volume.h"

#define VOLUME_BYTES (2 << 20)
/* Parameters of the volumes: plain, L2P table on flash, superblocks, persistent write buffer. */
#define KINDS 4

static u8 sound[KINDS][VOLUME_BYTES];
static u8 bytes[VOLUME_BYTES];

/* Size of the volume's metadata in bytes; 0 until the volume is created. */
static size_t used_of[KINDS];

static int read_backing_bytes(void *host, u64 offset, void *to, u32 size)
{
	fuzz_assert(offset <= VOLUME_BYTES && size <= VOLUME_BYTES - offset);
	memcpy(to, bytes + offset, size);
	return 0;
}

static int write_backing_bytes(void *host, u64 offset, const void *from, u32 size)
{
	fuzz_assert(offset <= VOLUME_BYTES && size <= VOLUME_BYTES - offset);
	memcpy(bytes + offset, from, size);
	return 0;
}

static int ignore_backing_flush(void *host)
{
	return 0;
}

static const struct aftl_backing medium = {
	.bytes = VOLUME_BYTES,
	.read = read_backing_bytes,
	.write = write_backing_bytes,
	.flush = ignore_backing_flush,
	.alloc = fuzz_alloc_and_count_bytes,
	.free = fuzz_free_and_count_bytes,
};

/* Callbacks of the device that creates the volume; none of them fails */

static struct aftl *ftl;
static struct aftl_volume *volume;

static void demand_request_success(void *host, struct aftl_request *request)
{
	fuzz_assert(!request->status);
}

static void record_accepted_unit(void *host, struct aftl_request *request, aftl_lpn_t lpn, u32 tag)
{
	struct aftl_plp_entry kept = { .seq = 0 };
	u64 offset;

	if (!aftl_geometry(ftl)->plp_entries)
		return;
	fuzz_assert(aftl_get_buffered_write(ftl, tag, &kept.what) && kept.what.lpn == lpn);
	while (aftl_volume_persist_unit(volume, tag, &kept, &offset))
		fuzz_assert(!aftl_volume_commit(volume));
}

static void release_volume_plp_entry(void *host, u32 tag)
{
	if (aftl_geometry(ftl)->plp_entries)
		aftl_volume_release_plp_entry(volume, tag);
}

static void record_programmed_page(void *host, aftl_ppn_t first)
{
	struct aftl_spare spare;

	aftl_init_spare_entry(&spare, ftl, first);
	fuzz_assert(!aftl_volume_record_program(volume, aftl_page_of_ppn(aftl_media(ftl), first),
						&spare));
}

static void record_unmapped_range(void *host, aftl_lpn_t first, u32 units)
{
	fuzz_assert(!aftl_volume_record_discard(volume, first, units));
}

static void record_erased_block(void *host, aftl_ppn_t first, u32 slots)
{
	struct aftl_erase_entry entry;

	aftl_erase_entry_describe_block(&entry, ftl, from_ppn(first) / slots);
	fuzz_assert(!aftl_volume_record_erase(volume, from_ppn(first) / slots, &entry));
}

static const struct aftl_host_ops working_ops = {
	.alloc = fuzz_alloc_and_count_bytes,
	.free = fuzz_free_and_count_bytes,
	.complete = demand_request_success,
	.accept = record_accepted_unit,
	.release = release_volume_plp_entry,
	.programmed = record_programmed_page,
	.unmap = record_unmapped_range,
	.erase = record_erased_block,
};

static const struct aftl_host_ops loaded_ops = {
	.alloc = fuzz_alloc_and_count_bytes,
	.free = fuzz_free_and_count_bytes,
	.complete = demand_request_success,
};

/* Set the parameters of a text like "key=value key=value". */
static void set_volume_config_params(struct aftl_config *config, const char *params)
{
	struct aftl_error error;
	char key[40];
	char value[40];
	int length;

	for (; *params; params += length) {
		fuzz_assert(sscanf(params, " %39[a-z0-9_]=%39[^ ]%n", key, value, &length) == 2);
		fuzz_assert(!aftl_param_set(config, key, value, &error));
	}
}

static void configure_volume(struct aftl_volume_header *super, u32 kind)
{
	static const char *const own[KINDS] = {
		"",
		"blocks=112 page=1024 unit=512 op=40 map_cache=4KiB",
		"blocks=32 page=1024 unit=512 superblock=2 rain=on",
		"buffer=32KiB buffer_safe=on buffer_hold=1s",
	};
	struct aftl_error error;

	fuzz_assert(!aftl_profile_load(&super->config, "demo", &error));
	set_volume_config_params(&super->config, "channels=1 chips=2 blocks=12 layers=2 "
				 "word_lines=2 page=4096 unit=2048 op=70");
	set_volume_config_params(&super->config, own[kind]);
	memcpy(super->policy, "vth_b", 5);
	memcpy(super->profile, "demo", 4);
	memcpy(super->uuid, "fuzzfuzzfuzzfuzz", AFTL_UUID_BYTES);
}

static void submit_volume_write(u32 i, u32 stride)
{
	struct aftl_request request = {
		.op = i % 7 == 6 ? AFTL_OP_DISCARD : AFTL_OP_WRITE,
		.unit = i * stride % aftl_geometry(ftl)->units,
		.units = 1,
		.class = i % 2,
		.level = i % 2 ? i / 2 % AFTL_LEVELS : 0,
		.arrival_ns = aftl_device_time_ns(ftl),
	};

	fuzz_assert(!aftl_submit(ftl, &request));
	while (aftl_pending_requests(ftl))
		aftl_process_events_until(ftl, aftl_next_event_ns(ftl));
}

static int load_fuzzed_volume(const struct aftl_host_ops *ops, bool scan, struct aftl_error *error)
{
	const struct aftl_volume_header *super = aftl_volume_get_header(volume);
	const struct aftl_policy_type *type = aftl_policy_find(super->policy);
	struct aftl_recovery recovery;

	if (!type)
		return aftl_fail(error, -EINVAL, "no policy has the name in the volume header");
	return aftl_volume_load(volume, type, &super->config, ops, NULL, scan, &ftl, &recovery,
				error);
}

static void make_seed_volume(u32 kind)
{
	static struct aftl_volume_header super;
	struct aftl_error error = { "" };
	u32 i;

	memset(&super, 0, sizeof(super));
	configure_volume(&super, kind);
	fuzz_assert(!aftl_volume_format(&medium, &super, &error));
	fuzz_assert(super.layout.data * AFTL_FRAME_BYTES < VOLUME_BYTES);
	fuzz_assert(!aftl_volume_open(&volume, &medium, &error));
	fuzz_assert(!load_fuzzed_volume(&working_ops, false, &error));
	fuzz_assert(!aftl_volume_mark_in_use(volume, aftl_policy_type(ftl), aftl_config(ftl)));
	for (i = 0; i < 120; i++)
		submit_volume_write(i, kind ? 37 : 5);
	fuzz_assert(kind != 1 || aftl_get_stats(ftl)->counters.programmed_map_units);
	fuzz_assert(kind != 2 || aftl_get_stats(ftl)->counters.programmed_parity_units);
	fuzz_assert(!aftl_volume_commit(volume));
	fuzz_assert(!aftl_volume_close(volume, ftl, &error));
	fuzz_assert(kind != 3 || !aftl_volume_state(volume)->closed);
	used_of[kind] = super.layout.snapshot * AFTL_FRAME_BYTES +
	       aftl_volume_state(volume)->snapshot_bytes;
	aftl_volume_free(volume);
	aftl_destroy(ftl);
	memcpy(sound[kind], bytes, used_of[kind]);
}

/* Change the volume */

static void set_header_checksum(u8 *frame)
{
	aftl_put_le(frame + 4092, ~aftl_crc32c(AFTL_CRC_START, frame, 4092), 4);
}

static void set_all_checksums(const struct aftl_volume_header *super)
{
	u32 nonce = aftl_volume_header_nonce(super);
	u64 sector = AFTL_FRAME_STATE * AFTL_FRAME_SECTORS;
	u64 end = super->layout.snapshot * AFTL_FRAME_SECTORS;

	set_header_checksum(bytes);
	set_header_checksum(bytes + AFTL_FRAME_BYTES);
	for (; sector < end; sector++)
		aftl_sector_add_crc(bytes + sector * AFTL_SECTOR_BYTES, nonce, sector);
}

static void change_fuzzed_bytes(const u8 *data, size_t size, size_t used)
{
	while (size >= 5) {
		size_t at = aftl_get_le(data, 3) % used;
		size_t count = min(min((size_t)data[3] % 16 + 1, size - 4), used - at);

		memcpy(bytes + at, data + 4, count);
		data += 4 + count;
		size -= 4 + count;
	}
}

/* Check the result */

static void demand_volume_state_survives_encoding(void)
{
	u8 payload[AFTL_SECTOR_BYTES] = { 0 };
	struct aftl_volume_state state;

	aftl_volume_state_encode(aftl_volume_state(volume), payload);
	fuzz_assert(!aftl_volume_state_decode(&state, payload));
	fuzz_assert(!memcmp(&state, aftl_volume_state(volume), sizeof(state)));
}

static void demand_volume_header_survives_encoding(void)
{
	static u8 frame[AFTL_FRAME_BYTES];
	static struct aftl_volume_header super;
	struct aftl_error error;

	aftl_volume_header_encode(aftl_volume_get_header(volume), frame);
	fuzz_assert(!aftl_volume_header_decode(&super, frame, &error));
	fuzz_assert(!memcmp(&super, aftl_volume_get_header(volume), sizeof(super)));
}

static void demand_oob_entries_survive_encoding(void)
{
	const struct aftl_geometry *geo = aftl_volume_geometry(volume);
	u8 again[AFTL_SECTOR_BYTES];
	struct aftl_spare first;
	struct aftl_spare second;
	u32 page;

	for (page = 0; page < geo->blocks * geo->pages; page++) {
		struct aftl_place at = aftl_spare_place(&aftl_volume_get_header(volume)->layout,
							geo, page);
		const u8 *entry = bytes + at.sector * AFTL_SECTOR_BYTES + at.offset;

		memset(&first, 0, sizeof(first));
		memset(&second, 0, sizeof(second));
		if (aftl_spare_entry_decode(&first, geo, entry))
			continue;
		aftl_spare_entry_encode(&first, geo, again);
		fuzz_assert(!aftl_spare_entry_decode(&second, geo, again) || !first.seq);
		fuzz_assert(!memcmp(&first, &second, sizeof(first)));
	}
}

static void try_load_fuzzed_volume(bool scan)
{
	struct aftl_error error = { "" };
	struct aftl_buffered_lpn what;
	u32 slot = 0;
	u64 offset;

	ftl = NULL;
	if (load_fuzzed_volume(&loaded_ops, scan, &error)) {
		fuzz_assert(strlen(error.text) > 5 && !ftl);
		return;
	}
	while (aftl_volume_get_next_persisted_lpn(volume, &slot, &what, &offset))
		fuzz_assert(aftl_restore_buffered_write(ftl, &what) < aftl_count_buffer_tags(ftl));
	fuzz_assert(!aftl_audit(ftl, &error));
	aftl_destroy(ftl);
}

static void try_open_fuzzed_volume(bool scan)
{
	struct aftl_error error = { "" };

	if (aftl_volume_open(&volume, &medium, &error)) {
		fuzz_assert(strlen(error.text) > 5);
		return;
	}
	demand_volume_state_survives_encoding();
	demand_volume_header_survives_encoding();
	demand_oob_entries_survive_encoding();
	try_load_fuzzed_volume(scan);
	aftl_volume_free(volume);
}

int fuzz_input(const u8 *data, size_t size)
{
	static struct aftl_volume_header super;
	struct aftl_error error;
	u32 kind = size ? (data[0] >> 2) % KINDS : 0;

	if (!used_of[kind])
		make_seed_volume(kind);
	memcpy(bytes, sound[kind], used_of[kind]);
	fuzz_assert(!aftl_volume_header_decode(&super, bytes, &error));
	change_fuzzed_bytes(data + 1, size ? size - 1 : 0, used_of[kind]);
	if (size && data[0] & 2)
		set_all_checksums(&super);
	try_open_fuzzed_volume(size && data[0] & 1);
	fuzz_assert(!fuzz_held);
	return 0;
}
