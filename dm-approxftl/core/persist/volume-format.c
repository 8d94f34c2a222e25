// SPDX-License-Identifier: GPL-2.0-only
#include "core/base/encoding.h"
#include "core/nand/block-format.h"
#include "core/persist/volume-entries.h"
#include "core/policy/param-registry.h"
#include "core/policy/policy.h"
#include "core/persist/snapshot.h"
#include "core/persist/volume-format.h"

#define PAYLOAD_BYTES AFTL_PAYLOAD_BYTES
/* Result of aftl_crc32c() for the payload of a sector of zeroes. */
#define CRC_OF_ZEROES 0x67974299U
#define SPARE_FIXED_BYTES 40
#define SPARE_UNIT_BYTES 8
#define ERASE_BYTES 16
#define DISCARD_BYTES 8
#define REMAP_BYTES 16
#define ZONE_BYTES 16
#define PLP_ENTRY_BYTES 16
#define PARAMS_AT 120
#define SHARD_AT (AFTL_FRAME_BYTES - 8)
#define CRC_AT (AFTL_FRAME_BYTES - 4)
#define KEY_SIZE 64
#define DATA_ALIGNMENT 256

static const u8 super_magic[8] = { 0x89, 'A', 'F', 'V', '\r', '\n', 0x1a, '\n' };
static const u8 state_magic[8] = { 0x89, 'A', 'F', 'S', '\r', '\n', 0x1a, '\n' };

enum { STATE_CLOSED = 1 };
enum { ERASE_BAD = 1, ERASE_FLIP = 2, ERASE_DEAD = 4 };
/* Byte 35 of a spare entry (OOB metadata): flags, bits in a cell, upper bits of the mode. */
enum { SPARE_FLIP = 1, SPARE_BITS_SHIFT = 1, SPARE_BITS = 3, SPARE_MODE_SHIFT = 3, SPARE_MODE = 7 };
enum { SPARE_PARITY = 0x40 };

/* Layout */

static u64 count_table_frames(u64 entries, u32 per_sector)
{
	u64 sectors = div64_u64(entries + per_sector - 1, per_sector);

	return DIV_ROUND_UP(sectors, (u64)AFTL_FRAME_SECTORS);
}

u32 aftl_spare_entry_size(const struct aftl_geometry *geo)
{
	return SPARE_FIXED_BYTES + geo->page_units * SPARE_UNIT_BYTES;
}

int aftl_layout_init(struct aftl_layout *layout, const struct aftl_geometry *geo,
		     struct aftl_error *error)
{
	u64 kept = DIV_ROUND_UP((u64)geo->plp_entries * geo->unit_bytes, (u64)AFTL_FRAME_BYTES);
	u64 snapshot = aftl_snapshot_bytes_max(geo);

	if (geo->page_units > AFTL_SPARE_UNITS)
		return aftl_fail(error, -EINVAL,
				 "a page has %u units, its spare area has room for %u; raise unit or lower page",
				 geo->page_units, AFTL_SPARE_UNITS);
	/* During recovery L2P entries hold ppns from 0 up or PLP slots from U32_MAX down. */
	if (geo->plp_entries > U32_MAX - geo->ppns)
		return aftl_fail(error, -EINVAL,
				 "a write buffer of %u units that survives is too large beside %u slots; lower buffer",
				 geo->plp_entries, geo->ppns);
	layout->spares_per_sector = PAYLOAD_BYTES / aftl_spare_entry_size(geo);
	layout->extent_table_frames = 0;
	layout->erases = AFTL_FRAME_TABLES;
	layout->spares = layout->erases + count_table_frames(geo->blocks, AFTL_ERASES_PER_SECTOR);
	layout->discards = layout->spares + count_table_frames((u64)geo->blocks * geo->pages,
							       layout->spares_per_sector);
	layout->plp_table = layout->discards +
			    (geo->zones ? count_table_frames(geo->zones, AFTL_ZONES_PER_SECTOR) :
					  count_table_frames(geo->units, AFTL_DISCARDS_PER_SECTOR));
	layout->snapshot =
		layout->plp_table + count_table_frames(geo->plp_entries, AFTL_ZONES_PER_SECTOR);
	layout->data = layout->snapshot + DIV_ROUND_UP(snapshot, (u64)AFTL_FRAME_BYTES) + kept;
	layout->data = DIV_ROUND_UP(layout->data, (u64)DATA_ALIGNMENT) * DATA_ALIGNMENT;
	layout->plp_data = layout->data - kept;
	layout->frames = layout->data +
			 DIV_ROUND_UP((u64)geo->ppns * geo->unit_bytes, (u64)AFTL_FRAME_BYTES);
	return 0;
}

u64 aftl_get_volume_offset_of_shard(const struct aftl_layout *layout, u32 shard)
{
	return shard * DIV_ROUND_UP(layout->frames, (u64)DATA_ALIGNMENT) * DATA_ALIGNMENT *
	       AFTL_FRAME_BYTES;
}

void aftl_layout_add_extents(struct aftl_layout *layout)
{
	u64 extents = DIV_ROUND_UP(layout->snapshot - layout->erases, (u64)AFTL_EXTENT_FRAMES);
	u64 data = layout->data;
	u64 more;

	layout->extent_table_frames = (u32)count_table_frames(extents, PAYLOAD_BYTES * 8);
	more = (u64)layout->extent_table_frames * AFTL_EXTENT_COPIES;
	layout->erases += more;
	layout->spares += more;
	layout->discards += more;
	layout->plp_table += more;
	layout->snapshot += more;
	layout->data = DIV_ROUND_UP(data + more, (u64)DATA_ALIGNMENT) * DATA_ALIGNMENT;
	layout->plp_data += layout->data - data;
	layout->frames += layout->data - data;
}

struct aftl_place aftl_extent_place(const struct aftl_layout *layout, u64 extent, u32 copy)
{
	u64 byte = extent / 8;
	u64 first = AFTL_FRAME_TABLES + (u64)copy * layout->extent_table_frames;

	return (struct aftl_place){
		.sector = first * AFTL_FRAME_SECTORS + div64_u64(byte, PAYLOAD_BYTES),
		.offset = (u32)(byte - div64_u64(byte, PAYLOAD_BYTES) * PAYLOAD_BYTES),
	};
}

static struct aftl_place entry_place(u64 first_frame, u32 index, u32 per_sector, u32 bytes)
{
	return (struct aftl_place){
		.sector = first_frame * AFTL_FRAME_SECTORS + index / per_sector,
		.offset = index % per_sector * bytes,
	};
}

struct aftl_place aftl_erase_place(const struct aftl_layout *layout, u32 block)
{
	return entry_place(layout->erases, block, AFTL_ERASES_PER_SECTOR, ERASE_BYTES);
}

struct aftl_place aftl_spare_place(const struct aftl_layout *layout,
				   const struct aftl_geometry *geo, u32 page)
{
	return entry_place(layout->spares, page, layout->spares_per_sector,
			   aftl_spare_entry_size(geo));
}

struct aftl_place aftl_discard_place(const struct aftl_layout *layout, u32 unit)
{
	return entry_place(layout->discards, unit, AFTL_DISCARDS_PER_SECTOR, DISCARD_BYTES);
}

struct aftl_place aftl_zone_place(const struct aftl_layout *layout, u32 zone)
{
	return entry_place(layout->discards, zone, AFTL_ZONES_PER_SECTOR, ZONE_BYTES);
}

struct aftl_place aftl_plp_entry_place(const struct aftl_layout *layout, u32 index)
{
	return entry_place(layout->plp_table, index, AFTL_ZONES_PER_SECTOR, PLP_ENTRY_BYTES);
}

struct aftl_place aftl_remap_place(u32 index)
{
	return entry_place(0, index, AFTL_REMAPS_PER_SECTOR, REMAP_BYTES);
}

/* Sectors */

static bool is_memory_all_zero(const u8 *bytes, size_t size)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* Checksum of a sector's payload. Most sectors are zero, which a comparison finds faster. */
static u32 sector_payload_crc(const u8 *sector)
{
	return is_memory_all_zero(sector, PAYLOAD_BYTES) ?
		       CRC_OF_ZEROES :
		       aftl_crc32c(AFTL_CRC_START, sector, PAYLOAD_BYTES);
}

static u32 sector_number_crc(const u8 *sector, u64 number)
{
	u32 crc = aftl_crc32c(sector_payload_crc(sector), sector + PAYLOAD_BYTES, 4);
	u8 bytes[8];

	aftl_put_le(bytes, number, 8);
	return ~aftl_crc32c(crc, bytes, 8);
}

void aftl_sector_add_crc(u8 *sector, u32 nonce, u64 number)
{
	aftl_put_le(sector + PAYLOAD_BYTES, nonce, 4);
	aftl_put_le(sector + AFTL_SECTOR_BYTES - 4, sector_number_crc(sector, number), 4);
}

bool aftl_sector_is_sound(const u8 *sector, u32 nonce, u64 number)
{
	return aftl_get_le(sector + PAYLOAD_BYTES, 4) == nonce &&
	       aftl_get_le(sector + AFTL_SECTOR_BYTES - 4, 4) == sector_number_crc(sector, number);
}

/* Volume header */

u32 aftl_volume_header_nonce(const struct aftl_volume_header *header)
{
	return (u32)aftl_get_le(header->uuid, 4);
}

int aftl_volume_header_set_layout(struct aftl_volume_header *header, struct aftl_geometry *geo,
				  struct aftl_error *error)
{
	struct aftl_shards shards;
	int ret = aftl_shards_init(&shards, &header->config, error);

	if (ret)
		return ret;
	*geo = shards.geo;
	if (header->config.zrwa)
		return aftl_fail(error, -EINVAL,
				 "zrwa: a volume is a device of Linux, whose block layer has no zone random write areas; set zrwa 0");
	ret = aftl_layout_init(&header->layout, geo, error);
	if (!ret && header->lazy_tables)
		aftl_layout_add_extents(&header->layout);
	return ret;
}

/* Give each shard a nonce of its own, so that no sector of one shard is valid in another. */
void aftl_volume_header_set_shard(struct aftl_volume_header *header, u32 index)
{
	header->shard = index;
	aftl_put_le(header->uuid, aftl_volume_header_nonce(header) + index, 4);
}

bool aftl_volume_header_is_of_shard(const struct aftl_volume_header *own,
				    const struct aftl_volume_header *first, u32 index)
{
	return own->shard == index && !first->shard && own->config.shards == first->config.shards &&
	       aftl_volume_header_nonce(own) == aftl_volume_header_nonce(first) + index &&
	       !memcmp(own->uuid + 4, first->uuid + 4, AFTL_UUID_BYTES - 4);
}

static void encode_header_params(const struct aftl_config *config, u8 *bytes)
{
	unsigned int i;

	aftl_put_le(bytes, aftl_param_count(), 4);
	bytes += 4;
	for (i = 0; i < aftl_param_count(); i++) {
		size_t length = strlen(aftl_param_at(i)->key);

		*bytes = (u8)length;
		memcpy(bytes + 1, aftl_param_at(i)->key, length);
		aftl_put_le(bytes + 1 + length, aftl_param_get(config, i), 8);
		bytes += 1 + length + 8;
	}
}

void aftl_volume_header_encode(const struct aftl_volume_header *header, u8 *bytes)
{
	const struct aftl_layout *layout = &header->layout;

	memset(bytes, 0, AFTL_FRAME_BYTES);
	memcpy(bytes, super_magic, sizeof(super_magic));
	aftl_put_le(bytes + 8,
		    (header->remapped ? AFTL_VOLUME_MAJOR_REMAPPED : AFTL_VOLUME_MAJOR) +
			 (header->lazy_tables ? AFTL_VOLUME_MAJOR_LAZY : 0),
		    2);
	aftl_put_le(bytes + 10, AFTL_VOLUME_MINOR, 2);
	aftl_put_le(bytes + 12, AFTL_FRAME_BYTES, 4);
	memcpy(bytes + 16, header->uuid, AFTL_UUID_BYTES);
	aftl_put_le(bytes + 32, header->generation, 8);
	aftl_put_le(bytes + 40, layout->frames * AFTL_FRAME_BYTES, 8);
	memcpy(bytes + 48, header->policy, AFTL_VOLUME_NAME);
	memcpy(bytes + 64, header->profile, AFTL_VOLUME_NAME);
	aftl_put_le(bytes + 80, layout->erases, 8);
	aftl_put_le(bytes + 88, layout->spares, 8);
	aftl_put_le(bytes + 96, layout->discards, 8);
	aftl_put_le(bytes + 104, layout->snapshot, 8);
	aftl_put_le(bytes + 112, layout->data, 8);
	encode_header_params(&header->config, bytes + PARAMS_AT);
	aftl_put_le(bytes + SHARD_AT, header->shard, 4);
	aftl_put_le(bytes + CRC_AT, ~aftl_crc32c(AFTL_CRC_START, bytes, CRC_AT), 4);
}

static int report_damaged_header(struct aftl_error *error, const char *what)
{
	return aftl_fail(error, -EUCLEAN, "the volume header is damaged: %s", what);
}

/* Decode one parameter into @config. Return: bytes that the parameter takes, or an error code. */
static int decode_header_param(struct aftl_config *config, const u8 *bytes, const u8 *end,
			       struct aftl_error *error)
{
	char key[KEY_SIZE + 1] = "";
	u32 length = *bytes;
	int index;
	u64 value;

	if (length > KEY_SIZE || end - bytes < 1 + (int)length + 8)
		return report_damaged_header(error, "a key is too long");
	memcpy(key, bytes + 1, length);
	index = aftl_param_find(key);
	if (index < 0)
		return aftl_fail(error, -EINVAL,
				 "the volume has a parameter \"%.40s\" that this version does not know",
				 key);
	value = aftl_get_le(bytes + 1 + length, 8);
	if (value < aftl_param_at(index)->smallest || value > aftl_param_at(index)->largest)
		return aftl_fail(error, -EUCLEAN,
				 "the volume header is damaged: %s is out of range",
				 aftl_param_at(index)->key);
	*aftl_config_param_ptr(config, index) = value;
	return 1 + length + 8;
}

static int decode_header_params(struct aftl_config *config, const u8 *bytes,
				struct aftl_error *error)
{
	const u8 *at = bytes + PARAMS_AT + 4;
	u32 count = (u32)aftl_get_le(bytes + PARAMS_AT, 4);
	u32 i;

	aftl_config_set_defaults_of_absent_params(config);
	for (i = 0; i < count; i++) {
		int used = decode_header_param(config, at, bytes + SHARD_AT, error);

		if (used < 0)
			return used;
		at += used;
	}
	return 0;
}

static int check_volume_header(const u8 *bytes, struct aftl_error *error)
{
	u32 major = (u32)aftl_get_le(bytes + 8, 2);

	if (is_memory_all_zero(bytes, AFTL_FRAME_BYTES))
		return aftl_fail(error, -ENODATA, "there is no volume: the volume header is zero");
	if (memcmp(bytes, super_magic, sizeof(super_magic)) != 0)
		return aftl_fail(error, -EMEDIUMTYPE, "this is not a volume of approxftl");
	if (aftl_get_le(bytes + CRC_AT, 4) != (u32)~aftl_crc32c(AFTL_CRC_START, bytes, CRC_AT))
		return report_damaged_header(error, "its checksum is wrong");
	if (major < AFTL_VOLUME_MAJOR || major > AFTL_VOLUME_MAJOR_MAX)
		return aftl_fail(error, -EINVAL,
				 "the volume has format %u, this version reads up to %u", major,
				 AFTL_VOLUME_MAJOR_MAX);
	if (aftl_get_le(bytes + 12, 4) != AFTL_FRAME_BYTES)
		return report_damaged_header(error, "frames of that size do not exist");
	return 0;
}

/* Refuse a volume header as damaged if its layout is not the one that its parameters give. */
static int check_header_layout(struct aftl_volume_header *header, const u8 *bytes,
			       struct aftl_error *error)
{
	const struct aftl_layout *layout = &header->layout;
	struct aftl_geometry geo;

	if (aftl_volume_header_set_layout(header, &geo, error))
		return -EUCLEAN;
	if (header->shard >= header->config.shards)
		return report_damaged_header(error,
					     "it is of a shard that the device does not have");
	if (aftl_get_le(bytes + 40, 8) != layout->frames * AFTL_FRAME_BYTES ||
	    aftl_get_le(bytes + 80, 8) != layout->erases ||
	    aftl_get_le(bytes + 88, 8) != layout->spares ||
	    aftl_get_le(bytes + 96, 8) != layout->discards ||
	    aftl_get_le(bytes + 104, 8) != layout->snapshot ||
	    aftl_get_le(bytes + 112, 8) != layout->data)
		return report_damaged_header(error, "its areas are not where they should be");
	return 0;
}

int aftl_volume_header_decode(struct aftl_volume_header *header, const u8 *bytes,
			      struct aftl_error *error)
{
	int ret = check_volume_header(bytes, error);
	u32 major;

	if (ret)
		return ret;
	memset(header, 0, sizeof(*header));
	memcpy(header->uuid, bytes + 16, AFTL_UUID_BYTES);
	major = (u32)aftl_get_le(bytes + 8, 2);
	header->lazy_tables = major > AFTL_VOLUME_MAJOR_LAZY;
	header->remapped = major % AFTL_VOLUME_MAJOR_LAZY == 0;
	header->generation = aftl_get_le(bytes + 32, 8);
	header->shard = (u32)aftl_get_le(bytes + SHARD_AT, 4);
	memcpy(header->policy, bytes + 48, AFTL_VOLUME_NAME);
	memcpy(header->profile, bytes + 64, AFTL_VOLUME_NAME);
	ret = decode_header_params(&header->config, bytes, error);
	return ret ? ret : check_header_layout(header, bytes, error);
}

/* State */

void aftl_volume_state_encode(const struct aftl_volume_state *state, u8 *payload)
{
	memset(payload, 0, PAYLOAD_BYTES);
	memcpy(payload, state_magic, sizeof(state_magic));
	aftl_put_le(payload + 8, state->closed ? STATE_CLOSED : 0, 4);
	aftl_put_le(payload + 16, state->commit, 8);
	aftl_put_le(payload + 24, state->seq, 8);
	aftl_put_le(payload + 32, state->now_ns, 8);
	aftl_put_le(payload + 40, state->age_ns, 8);
	aftl_put_le(payload + 48, state->memory, 8);
	aftl_put_le(payload + 56, state->snapshot_bytes, 8);
	aftl_put_le(payload + 64, state->policy_seq, 8);
	memcpy(payload + 72, state->policy, AFTL_VOLUME_NAME);
}

int aftl_volume_state_decode(struct aftl_volume_state *state, const u8 *payload)
{
	if (memcmp(payload, state_magic, sizeof(state_magic)) != 0)
		return -EUCLEAN;
	memset(state, 0, sizeof(*state));
	state->closed = aftl_get_le(payload + 8, 4) & STATE_CLOSED;
	state->commit = aftl_get_le(payload + 16, 8);
	state->seq = aftl_get_le(payload + 24, 8);
	state->now_ns = aftl_get_le(payload + 32, 8);
	state->age_ns = aftl_get_le(payload + 40, 8);
	state->memory = aftl_get_le(payload + 48, 8);
	state->snapshot_bytes = aftl_get_le(payload + 56, 8);
	state->policy_seq = aftl_get_le(payload + 64, 8);
	memcpy(state->policy, payload + 72, AFTL_VOLUME_NAME);
	return 0;
}

/* Entries */

void aftl_erase_entry_encode(const struct aftl_erase_entry *entry, u8 *bytes)
{
	memset(bytes, 0, ERASE_BYTES);
	aftl_put_le(bytes, entry->erases, 4);
	aftl_put_le(bytes + 4, entry->wear, 4);
	bytes[8] = (entry->bad ? ERASE_BAD : 0) | (entry->flip ? ERASE_FLIP : 0) |
		   (entry->dead ? ERASE_DEAD : 0);
}

void aftl_erase_entry_decode(struct aftl_erase_entry *entry, const u8 *bytes)
{
	entry->erases = (u32)aftl_get_le(bytes, 4);
	entry->wear = (u32)aftl_get_le(bytes + 4, 4);
	entry->bad = bytes[8] & ERASE_BAD;
	entry->flip = bytes[8] & ERASE_FLIP;
	entry->dead = bytes[8] & ERASE_DEAD;
}

void aftl_zone_entry_encode(const struct aftl_zone_entry *entry, u8 *bytes)
{
	memset(bytes, 0, ZONE_BYTES);
	aftl_put_le(bytes, entry->seq, 8);
	bytes[8] = entry->state;
}

int aftl_zone_entry_decode(struct aftl_zone_entry *entry, const u8 *bytes)
{
	entry->seq = aftl_get_le(bytes, 8);
	entry->state = bytes[8];
	return !entry->state || (entry->state >= AFTL_ZONE_FULL &&
				 entry->state < AFTL_ZONE_STATES) ? 0 : -EUCLEAN;
}

void aftl_plp_entry_encode(const struct aftl_plp_entry *entry, u8 *bytes)
{
	memset(bytes, 0, PLP_ENTRY_BYTES);
	if (!entry->seq)
		return;
	aftl_put_le(bytes, entry->seq, 8);
	aftl_put_le(bytes + 8, from_lpn(entry->what.lpn), 4);
	bytes[12] = entry->what.level;
	bytes[13] = entry->what.hint.life;
	bytes[14] = entry->what.hint.stream;
}

int aftl_plp_entry_decode(struct aftl_plp_entry *entry, const struct aftl_geometry *geo,
			  const u8 *bytes)
{
	entry->seq = aftl_get_le(bytes, 8);
	entry->what = (struct aftl_buffered_lpn){
		.lpn = to_lpn((u32)aftl_get_le(bytes + 8, 4)),
		.level = bytes[12],
		.hint = { .life = bytes[13], .stream = bytes[14] },
	};
	return !entry->seq || (from_lpn(entry->what.lpn) < geo->units &&
			       entry->what.level < AFTL_LEVELS &&
			       entry->what.hint.life < AFTL_LIFETIMES) ?
		       0 :
		       -EUCLEAN;
}

void aftl_remap_encode(const struct aftl_remap *remap, u8 *bytes)
{
	memset(bytes, 0, REMAP_BYTES);
	if (remap->ppn == AFTL_NO_PPN)
		return;
	aftl_put_le(bytes, from_ppn(remap->ppn) + 1, 4);
	aftl_put_le(bytes + 4, remap->erases, 4);
	bytes[8] = remap->attr;
}

void aftl_remap_decode(struct aftl_remap *remap, const u8 *bytes)
{
	u32 slot = (u32)aftl_get_le(bytes, 4);

	remap->ppn = slot ? to_ppn(slot - 1) : AFTL_NO_PPN;
	remap->erases = (u32)aftl_get_le(bytes + 4, 4);
	remap->attr = bytes[8];
}

void aftl_spare_entry_encode(const struct aftl_spare *spare, const struct aftl_geometry *geo,
			     u8 *bytes)
{
	u8 *at = bytes + SPARE_FIXED_BYTES;
	u32 i;

	aftl_put_le(bytes, spare->seq, 8);
	aftl_put_le(bytes + 8, spare->opened_ns, 8);
	aftl_put_le(bytes + 16, spare->erases, 4);
	aftl_put_le(bytes + 20, spare->wear, 4);
	aftl_put_le(bytes + 24, spare->first_hour, 4);
	aftl_put_le(bytes + 28, spare->hours, 2);
	aftl_put_le(bytes + 30, spare->note, 2);
	bytes[32] = (u8)spare->attr;
	bytes[33] = spare->order;
	bytes[34] = aftl_encode_block_kind(spare->kind, spare->handle);
	bytes[35] = (spare->flip ? SPARE_FLIP : 0) | spare->bits << SPARE_BITS_SHIFT |
		    spare->attr >> 8 << SPARE_MODE_SHIFT | (spare->parity ? SPARE_PARITY : 0);
	aftl_put_le(bytes + 36, spare->mapped, 2);
	aftl_put_le(bytes + 38, spare->lost, 2);
	for (i = 0; i < geo->page_units; i++, at += SPARE_UNIT_BYTES) {
		aftl_put_le(at, from_lpn(spare->word[i]), 4);
		aftl_put_le(at + 4, spare->origin[i].generation, 2);
		aftl_put_le(at + 6, spare->origin[i].inherited, 2);
	}
}

static bool spare_entry_is_possible(const struct aftl_spare *spare, const struct aftl_geometry *geo)
{
	u32 i;

	if (spare->order >= AFTL_ORDERS || spare->kind >= AFTL_KINDS_MAX ||
	    !aftl_may_block_have_bits_per_cell(geo, spare->bits, spare->order) ||
	    !aftl_is_stored_program_order_valid(geo, spare->bits, spare->order) ||
	    ((aftl_page_is_foggy(spare->attr) || spare->parity) && spare->mapped) ||
	    (spare->parity && !geo->superblock_luns) || !aftl_page_attr_is_possible(spare->attr) ||
	    (spare->mapped | spare->lost) >> geo->page_units)
		return false;
	for (i = 0; i < geo->page_units; i++)
		if (!aftl_can_page_hold_oob_lpn_word(spare->word[i], spare->attr) ||
		    (spare->mapped >> i & 1 &&
		     from_lpn(aftl_lpn_word_lpn(spare->word[i])) >= aftl_count_mappable_pages(geo)))
			return false;
	return true;
}

void aftl_spare_entry_decode_recovery_fields(struct aftl_spare *spare,
					     const struct aftl_geometry *geo, const u8 *bytes)
{
	const u8 *at = bytes + SPARE_FIXED_BYTES;
	u32 i;

	spare->seq = aftl_get_le(bytes, 8);
	if (!spare->seq)
		return;
	spare->erases = (u32)aftl_get_le(bytes + 16, 4);
	spare->wear = (u32)aftl_get_le(bytes + 20, 4);
	spare->flip = bytes[35] & SPARE_FLIP;
	spare->mapped = (u16)aftl_get_le(bytes + 36, 2);
	for (i = 0; i < geo->page_units; i++, at += SPARE_UNIT_BYTES)
		spare->word[i] = to_lpn((u32)aftl_get_le(at, 4));
}

int aftl_spare_entry_decode(struct aftl_spare *spare, const struct aftl_geometry *geo,
			    const u8 *bytes)
{
	const u8 *at = bytes + SPARE_FIXED_BYTES;
	u32 i;

	aftl_spare_entry_decode_recovery_fields(spare, geo, bytes);
	if (!spare->seq)
		return 0;
	spare->opened_ns = aftl_get_le(bytes + 8, 8);
	spare->first_hour = (u32)aftl_get_le(bytes + 24, 4);
	spare->hours = (u16)aftl_get_le(bytes + 28, 2);
	spare->note = (u16)aftl_get_le(bytes + 30, 2);
	spare->attr = bytes[32] | (bytes[35] >> SPARE_MODE_SHIFT & SPARE_MODE) << 8;
	spare->order = bytes[33];
	aftl_decode_block_kind(bytes[34], geo->zones, &spare->kind, &spare->handle);
	spare->bits = bytes[35] >> SPARE_BITS_SHIFT & SPARE_BITS;
	spare->parity = bytes[35] & SPARE_PARITY;
	spare->lost = (u16)aftl_get_le(bytes + 38, 2);
	for (i = 0; i < geo->page_units; i++, at += SPARE_UNIT_BYTES) {
		spare->origin[i].generation = (u16)aftl_get_le(at + 4, 2);
		spare->origin[i].inherited = (u16)aftl_get_le(at + 6, 2);
	}
	return spare_entry_is_possible(spare, geo) ? 0 : -EUCLEAN;
}
