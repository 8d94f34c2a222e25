// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paints the device: one pixel for each page.
 */
#include "checked-memory.h"
#include "play.h"

#define BAD 255
/* Numbers of colours of the scales on which valid units, age and wear of pages are shown. */
#define VALID_STEPS 15
#define AGE_STEPS 20
#define WEAR_STEPS 200

static u32 palette[PLAY_COLOURS];

u32 *playground_palette(void)
{
	return palette;
}

/**
 * struct subject - a page to paint
 * @media: flash array
 * @block: block of the page
 * @page: page in the block
 * @attr: attributes of the page
 * @most_erases: maximum erase count of all blocks
 */
struct subject {
	const struct aftl_media *media;
	const struct aftl_block *block;
	u32 page;
	u16 attr;
	u32 most_erases;
};

static u32 count_painted_valid_units(const struct subject *of)
{
	u32 first = from_ppn(aftl_page_ppn(of->media, of->block, of->page));
	u32 valid = 0;

	for (u32 i = 0; i < of->media->geo->page_units; i++)
		valid += aftl_ppn_is_valid(of->media, to_ppn(first + i));
	return valid;
}

/* Colour a page by its class, and by whether none, some or all of the page's units are valid. */
static u8 page_colour_by_class_and_validity(const struct subject *of)
{
	u32 valid = count_painted_valid_units(of);
	u32 left = !valid ? 0 : valid < of->media->geo->page_units ? 1 : 2;

	return (u8)(1 + aftl_page_class(of->attr) * 3 + left);
}

/* Colour a page by program mode, class, and whether it has no valid unit. */
static u8 page_colour_by_mode(const struct subject *of)
{
	return (u8)(1 + aftl_page_mode(of->attr) * 4 + aftl_page_class(of->attr) * 2 +
		    !count_painted_valid_units(of));
}

static u8 page_colour_by_valid_units(const struct subject *of)
{
	return (u8)(1 + count_painted_valid_units(of) * VALID_STEPS / of->media->geo->page_units);
}

/* Colour a page by the logarithm of its age in hours. */
static u8 page_colour_by_age(const struct subject *of)
{
	u64 hours = aftl_page_age_hours(of->media, of->block, of->page,
					aftl_device_age_hours(play.drive.ftl));

	return (u8)(1 + min(fls64(hours), (u32)AGE_STEPS));
}

/* Colour a page by the logarithm of its raw bit error rate, in 2^-40. */
static u8 page_colour_by_error_rate(const struct subject *of)
{
	u64 rate = aftl_cell_rber_q40(aftl_cell(play.drive.ftl), of->block, of->page,
				      aftl_device_age_hours(play.drive.ftl));

	return (u8)(1 + min(fls64(rate), 40U));
}

/* Colour a page by the erase count of its block, relative to the maximum of all blocks. */
static u8 page_colour_by_wear(const struct subject *of)
{
	return of->most_erases ?
		(u8)(1 + (u64)of->block->erases * WEAR_STEPS / of->most_erases) : 1;
}

/* Colour a page by the policy's use of its block, and by whether the block is open. */
static u8 page_colour_by_block_kind(const struct subject *of)
{
	return (u8)(1 + of->block->kind * 2 + (of->block->state == AFTL_BLOCK_OPEN));
}

typedef u8 (*painter)(const struct subject *of);

static const painter painters[PLAY_VIEWS] = {
	[PLAY_VIEW_USE] = page_colour_by_class_and_validity, [PLAY_VIEW_MODE] = page_colour_by_mode,
	[PLAY_VIEW_VALID] = page_colour_by_valid_units,	[PLAY_VIEW_AGE] = page_colour_by_age,
	[PLAY_VIEW_ERRORS] = page_colour_by_error_rate,	[PLAY_VIEW_WEAR] = page_colour_by_wear,
	[PLAY_VIEW_KIND] = page_colour_by_block_kind,
};

/* Wear is a property of the block, so a picture of the wear shows erased pages, too. */
static u8 choose_page_colour(u32 view, struct subject *of)
{
	of->attr = aftl_block_page_attr(of->media, of->block, of->page);
	if (of->block->state == AFTL_BLOCK_BAD)
		return BAD;
	return view == PLAY_VIEW_WEAR || of->attr & AFTL_PAGE_PROGRAMMED ? painters[view](of) : 0;
}

/**
 * struct picture - geometry of the picture of a device's pages
 * @pixels: all pixels
 * @stride: pixels of a row
 * @height: number of rows
 * @columns: number of blocks of a LUN side by side
 * @width: width of a block
 * @tall: height of a block
 * @lun_width: width of a LUN with its margins
 * @lun_tall: height of a LUN with its margins
 */
struct picture {
	u32 *pixels;
	u32 stride;
	u32 height;
	u32 columns;
	u32 width;
	u32 tall;
	u32 lun_width;
	u32 lun_tall;
};

static struct picture make_picture_geometry(const struct aftl_geometry *geo, u32 across,
					    u32 columns, u32 width)
{
	struct picture picture = {
		.columns = columns,
		.width = width,
		.tall = DIV_ROUND_UP(geo->pages, width),
	};

	picture.lun_width = columns * (width + 1) + 1;
	picture.lun_tall = DIV_ROUND_UP(geo->blocks_per_lun, columns) * (picture.tall + 1) + 1;
	picture.stride = across * picture.lun_width;
	picture.height = DIV_ROUND_UP(geo->luns, across) * picture.lun_tall;
	return picture;
}

static void paint_block(const struct picture *picture, u32 view, u32 *corner, struct subject *of)
{
	u32 pages = of->media->geo->pages;
	u32 column = 0;
	u32 *row = corner;

	for (of->page = 0; of->page < pages; of->page++) {
		row[column++] = palette[choose_page_colour(view, of)];
		if (column == picture->width) {
			column = 0;
			row += picture->stride;
		}
	}
}

static u32 *get_first_pixel_of_block(const struct picture *picture, const struct aftl_geometry *geo,
				     u32 across, u32 index)
{
	u32 lun = index / geo->blocks_per_lun;
	u32 block = index % geo->blocks_per_lun;
	u32 x = lun % across * picture->lun_width +
		block % picture->columns * (picture->width + 1);
	u32 y = lun / across * picture->lun_tall + block / picture->columns * (picture->tall + 1);

	return picture->pixels + (size_t)y * picture->stride + x;
}

static u32 find_max_erase_count(const struct aftl_media *media)
{
	u32 most = 0;

	for (u32 i = 0; i < media->geo->blocks; i++)
		most = max(most, media->blocks[i].erases);
	return most;
}

/**
 * struct look - state of a block when it was painted
 * @begun: number of the block's programs and erases, plus one
 * @valid: number of valid units, which can only fall between programs and erases
 * @state: state of the block
 */
struct look {
	u32 begun;
	u32 valid;
	u8 state;
};

static bool has_block_changed_since_last_paint(struct look *former, u32 index,
					       const struct aftl_block *block)
{
	u32 begun = play.begun[index] + 1;
	bool changed = begun != former->begun || block->valid != former->valid ||
		       block->state != former->state;

	former->begun = begun;
	former->valid = block->valid;
	former->state = block->state;
	return changed;
}

/* Return true if all blocks must be painted anew: shown property, size, colours or time changed. */
static bool must_repaint_picture(const struct picture *picture, u32 view, u32 erases)
{
	static u32 colours[PLAY_COLOURS];
	static u64 last[6];
	const u64 now[ARRAY_SIZE(last)] = {
		view + 1,
		picture->width,
		picture->columns,
		picture->stride,
		view == PLAY_VIEW_WEAR ? erases : 0,
		aftl_device_age_hours(play.drive.ftl),
	};
	bool another = memcmp(now, last, sizeof(now)) != 0 ||
		       memcmp(colours, palette, sizeof(palette)) != 0;

	memcpy(last, now, sizeof(now));
	memcpy(colours, palette, sizeof(palette));
	return another;
}

u32 *playground_paint_pages(u32 view, u32 across, u32 columns, u32 width)
{
	static u32 *pixels;
	static struct look *looks;
	const struct aftl_geometry *geo = play.drive.geo;
	struct subject of = { .media = aftl_media(play.drive.ftl) };
	struct picture picture = make_picture_geometry(geo, across, columns, width);
	bool all;

	pixels = memory_resize(pixels, picture.height, picture.stride * sizeof(*pixels));
	looks = looks ? looks : memory_alloc_zeroed(geo->blocks, sizeof(*looks));
	picture.pixels = pixels;
	of.most_erases = find_max_erase_count(of.media);
	all = must_repaint_picture(&picture, view, of.most_erases);
	if (all)
		memset(pixels, 0, (size_t)picture.height * picture.stride * sizeof(*pixels));
	for (u32 i = 0; i < geo->blocks; i++) {
		of.block = &of.media->blocks[i];
		if (has_block_changed_since_last_paint(&looks[i], i, of.block) || all)
			paint_block(&picture, view,
				    get_first_pixel_of_block(&picture, geo, across, i), &of);
	}
	return pixels;
}
