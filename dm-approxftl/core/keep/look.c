// SPDX-License-Identifier: GPL-2.0-only
#include "core/keep/look.h"

#define PART_BYTES ((size_t)AFTL_PART_FRAMES * AFTL_FRAME_BYTES)

static bool is_set(const u64 *bits, u64 bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static void set(u64 *bits, u64 bit)
{
	bits[bit / 64] |= 1ULL << bit % 64;
}

static size_t look_bytes(u32 parts)
{
	return parts * (PART_BYTES + sizeof(struct aftl_look_part));
}

/* What is known of the parts comes behind their bytes: a kernel's stack is small. */
static bool take_parts(struct aftl_look *look, u32 parts)
{
	const struct aftl_medium *medium = look->volume->medium;

	look->parts = parts;
	look->bytes = medium->alloc(medium->host, look_bytes(parts));
	if (look->bytes)
		look->part = (struct aftl_look_part *)(look->bytes + parts * PART_BYTES);
	return look->bytes;
}

int aftl_look_open(struct aftl_look *look, const struct aftl_volume *volume, u64 first, u64 end)
{
	*look = (struct aftl_look){ .volume = volume, .first = first, .end = end };
	return take_parts(look, AFTL_LOOK_PARTS) || take_parts(look, 1) ? 0 : -ENOMEM;
}

static struct aftl_look_part *part_of(struct aftl_look *look, u64 number)
{
	return &look->part[number & (look->parts - 1)];
}

static u64 first_of(const struct aftl_look *look, u64 number)
{
	return look->first + number * AFTL_PART_FRAMES;
}

static u8 *bytes_of(const struct aftl_look *look, const struct aftl_look_part *part)
{
	return look->bytes + (part->number & (look->parts - 1)) * PART_BYTES;
}

static int wait_for(const struct aftl_look *look, struct aftl_look_part *part)
{
	const struct aftl_medium *medium = look->volume->medium;
	void *begun = part->begun;

	part->begun = NULL;
	return medium->end_read(medium->host, begun);
}

void aftl_look_close(struct aftl_look *look)
{
	const struct aftl_medium *medium;
	u32 i;

	if (!look->bytes)
		return;
	for (i = 0; i < look->parts; i++)
		if (look->part[i].begun)
			wait_for(look, &look->part[i]);
	medium = look->volume->medium;
	medium->free(medium->host, look->bytes, look_bytes(look->parts));
}

/* Into the place of another part, which is not wanted any more. */
static void begin(struct aftl_look *look, u64 number)
{
	const struct aftl_medium *medium = look->volume->medium;
	struct aftl_look_part *part = part_of(look, number);
	u64 first = first_of(look, number);

	if (part->begun)
		wait_for(look, part);
	*part = (struct aftl_look_part){
		.number = number,
		.frames = (u32)min_t(u64, look->end - first, AFTL_PART_FRAMES),
	};
	if (medium->begin_read)
		part->begun = medium->begin_read(medium->host, first * AFTL_FRAME_BYTES,
						 bytes_of(look, part),
						 part->frames * AFTL_FRAME_BYTES);
}

static bool is_here(struct aftl_look *look, u64 number)
{
	const struct aftl_look_part *part = part_of(look, number);

	return part->frames && part->number == number;
}

/* Of tables, has anything been written there? */
static bool is_used(const struct aftl_look *look, u64 number)
{
	u64 frame = first_of(look, number);
	u64 end = min(look->end, frame + AFTL_PART_FRAMES);

	if (frame >= look->volume->super.layout.snapshot)
		return true;
	for (; frame < end; frame++)
		if (aftl_volume_begun(look->volume, frame))
			return true;
	return false;
}

/* What follows part @number will be wanted soon. */
static void begin_next(struct aftl_look *look, u64 number)
{
	u64 last = number + look->parts / 2;

	while (++number <= last && first_of(look, number) < look->end)
		if (!is_here(look, number) && is_used(look, number))
			begin(look, number);
}

/* What cannot be read as a whole is read frame by frame, where it is needed. */
static void finish(struct aftl_look *look, struct aftl_look_part *part)
{
	const struct aftl_medium *medium = look->volume->medium;
	int ret;

	if (part->begun)
		ret = wait_for(look, part);
	else
		ret = medium->read(medium->host,
				   first_of(look, part->number) * AFTL_FRAME_BYTES,
				   bytes_of(look, part), part->frames * AFTL_FRAME_BYTES);
	memset(part->there, ret ? 0 : 0xff, sizeof(part->there));
	part->read = true;
}

static int read_frame(const struct aftl_look *look, struct aftl_look_part *part, u64 number,
		      struct aftl_error *error)
{
	const struct aftl_medium *medium = look->volume->medium;
	u64 index = number - first_of(look, part->number);
	int ret = medium->read(medium->host, number * AFTL_FRAME_BYTES,
			       bytes_of(look, part) + index * AFTL_FRAME_BYTES,
			       AFTL_FRAME_BYTES);

	if (ret)
		return aftl_fail(error, ret, "frame %llu of the volume cannot be read",
				 (unsigned long long)number);
	set(part->there, index);
	return 0;
}

/* The part with frame @number, of which that has been read. */
static struct aftl_look_part *turn_to(struct aftl_look *look, u64 number, int *ret,
				      struct aftl_error *error)
{
	u64 index = (number - look->first) / AFTL_PART_FRAMES;
	struct aftl_look_part *part = part_of(look, index);

	*ret = 0;
	if (unlikely(!part->read || part->number != index)) {
		if (!is_here(look, index))
			begin(look, index);
		begin_next(look, index);
		finish(look, part);
	}
	if (unlikely(!is_set(part->there, (number - look->first) % AFTL_PART_FRAMES)))
		*ret = read_frame(look, part, number, error);
	return *ret ? NULL : part;
}

const u8 *aftl_look_frame(struct aftl_look *look, u64 number, int *ret,
			  struct aftl_error *error)
{
	const struct aftl_look_part *part = turn_to(look, number, ret, error);

	return part ? bytes_of(look, part) +
		      (number - look->first) % AFTL_PART_FRAMES * AFTL_FRAME_BYTES : NULL;
}

/* Checksums are looked at once, however often entries are. */
static bool is_sound(const struct aftl_look *look, struct aftl_look_part *part,
		     const u8 *bytes, u64 sector)
{
	u64 index = sector - first_of(look, part->number) * AFTL_FRAME_SECTORS;

	if (is_set(part->sound, index))
		return true;
	if (!aftl_sector_sound(bytes, look->volume->nonce, sector))
		return false;
	set(part->sound, index);
	return true;
}

const u8 *aftl_look_sector(struct aftl_look *look, u64 sector, int *ret,
			   struct aftl_error *error)
{
	static const u8 nothing[AFTL_SECTOR_BYTES] = { 0 };
	struct aftl_look_part *part;
	const u8 *bytes;

	*ret = 0;
	if (!aftl_volume_begun(look->volume, sector / AFTL_FRAME_SECTORS))
		return nothing;
	part = turn_to(look, sector / AFTL_FRAME_SECTORS, ret, error);
	if (!part)
		return NULL;
	bytes = bytes_of(look, part) +
		(sector - first_of(look, part->number) * AFTL_FRAME_SECTORS) * AFTL_SECTOR_BYTES;
	if (is_sound(look, part, bytes, sector))
		return bytes;
	*ret = aftl_fail(error, -EUCLEAN,
			 "the volume is damaged: sector %llu has a wrong checksum",
			 (unsigned long long)sector);
	return NULL;
}
