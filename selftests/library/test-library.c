// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of libapproxftl with a fake control device.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/approxftl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attribute.h"
#include "control-node.h"
#include "lib/fake-control.h"
#include "tap.h"

static struct approxftl *handle;
static char *path;
static int fd;

static void open_fake_library(void)
{
	reset_fake_control_device();
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(ftruncate(fd, 16 * FAKE_UNIT), 0);
	CHECK_EQ(approxftl_open(path, APPROXFTL_REQUIRE, &handle), 0);
	CHECK(approxftl_active(handle));
}

static void close_fake_library(void)
{
	approxftl_close(handle);
	handle = NULL;
}

static void check_tagged_extent(const struct approxftl_extent *extent, s64 offset, s64 length,
				u32 kind)
{
	CHECK_EQ(extent->offset, offset);
	CHECK_EQ(extent->length, length);
	CHECK_EQ(extent->class, kind);
}

TAP_TEST(ranges_are_tagged_untagged_and_listed)
{
	struct approxftl_extent extents[8];

	open_fake_library();
	CHECK_EQ(approxftl_tag(handle, fd, 0, APPROXFTL_TO_END, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_protect(handle, fd, 0, 100), 0);
	CHECK_EQ(approxftl_untag(handle, fd, 8192, 4096), 0);
	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 8), 3);
	check_tagged_extent(&extents[0], 0, 100, APPROXFTL_PRECISE);
	check_tagged_extent(&extents[1], 100, 8092, APPROXFTL_APPROXIMATE);
	check_tagged_extent(&extents[2], 12288, -1, APPROXFTL_APPROXIMATE);
	CHECK_EQ(approxftl_query(handle, fd, 100, extents, 1), 1);
	check_tagged_extent(&extents[0], 100, 8092, APPROXFTL_APPROXIMATE);
	CHECK_EQ(approxftl_query(handle, fd, -1, extents, 8), 0);
	close_fake_library();
}

/* If the kernel module lacks APPROXFTL_TAG_FD, the library tags the file's whole range instead. */
TAP_TEST(a_whole_file_is_tagged_by_each_carrier)
{
	struct approxftl_extent extent;

	open_fake_library();
	CHECK_EQ(approxftl_tag(handle, fd, 0, APPROXFTL_TO_END, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(fake_control.whole_files, 1);
	CHECK_EQ(approxftl_tag(handle, fd, 0, 4096, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_tag(handle, fd, 4096, APPROXFTL_TO_END, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(fake_control.whole_files, 1);
	CHECK_EQ(approxftl_untag(handle, fd, 0, APPROXFTL_TO_END), 0);
	CHECK_EQ(fake_control.whole_files, 2);
	fake_control.refuse = ENOTTY;
	fake_control.refuse_number = APPROXFTL_TAG_FD;
	CHECK_EQ(approxftl_tag(handle, fd, 0, APPROXFTL_TO_END, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(fake_control.whole_files, 2);
	CHECK_EQ(approxftl_query(handle, fd, 0, &extent, 1), 1);
	check_tagged_extent(&extent, 0, -1, APPROXFTL_APPROXIMATE);
	close_fake_library();
}

TAP_TEST(long_answers_of_the_kernel_are_fetched_in_parts)
{
	struct approxftl_extent extents[40];
	int i;

	open_fake_library();
	fake_control.most = 3;
	for (i = 0; i < 20; i++)
		CHECK_EQ(approxftl_tag(handle, fd, 1000 * i, 10, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 40), 20);
	check_tagged_extent(&extents[19], 19000, 10, APPROXFTL_APPROXIMATE);
	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 7), 7);
	close_fake_library();
}

TAP_TEST(invalid_ranges_are_refused_without_a_system_call)
{
	open_fake_library();
	fake_control.calls = 0;
	CHECK_EQ(approxftl_tag(handle, fd, -1, 10, APPROXFTL_APPROXIMATE), -EINVAL);
	CHECK_EQ(approxftl_tag(handle, fd, 0, -2, APPROXFTL_APPROXIMATE), -EINVAL);
	CHECK_EQ(approxftl_tag(handle, fd, 0, 10, APPROXFTL_NONE), -EINVAL);
	CHECK_CONTAINS(approxftl_reason(handle), "approxftl_untag()");
	CHECK_EQ(approxftl_query(handle, fd, -2, NULL, 0), -EINVAL);
	CHECK_EQ(approxftl_tag(handle, fd, 0, 0, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(fake_control.calls, 0);
	CHECK_EQ(approxftl_tag(handle, -1, 0, 10, APPROXFTL_APPROXIMATE), -EBADF);
	close_fake_library();
}

/* Each reason of the kernel to refuse a tag has its own message, with the remedy behind a ";". */
TAP_TEST(every_refusal_reason_has_its_own_message)
{
	u32 reason;

	open_fake_library();
	for (reason = APPROXFTL_REASON_KIND; reason <= APPROXFTL_REASON_IN_USE; reason++) {
		fake_control.refuse = EOPNOTSUPP;
		fake_control.reason = reason;
		CHECK_EQ(approxftl_tag(handle, fd, 0, 10, APPROXFTL_APPROXIMATE), -EOPNOTSUPP);
		CHECK_CONTAINS(approxftl_reason(handle), approxftl_explain(reason));
		CHECK_CONTAINS(approxftl_explain(reason), "; ");
		CHECK(strcmp(approxftl_explain(reason), approxftl_explain(reason - 1)));
	}
	CHECK_CONTAINS(approxftl_explain(reason), "too old");
	fake_control.reason = APPROXFTL_REASON_NONE;
	fake_control.refuse = EPERM;
	CHECK_EQ(approxftl_watch(handle, fd, true), -EPERM);
	CHECK_CONTAINS(approxftl_reason(handle), "root");
	close_fake_library();
}

static void *begin_precise_region_in_thread(void *unused)
{
	CHECK_EQ(approxftl_region_begin(handle, APPROXFTL_PRECISE, NULL), 0);
	CHECK_CONTAINS(approxftl_reason(handle), "nothing was refused");
	return unused;
}

TAP_TEST(regions_nest_within_a_thread)
{
	pthread_t thread;

	open_fake_library();
	CHECK_EQ(approxftl_region_end(handle), -EINVAL);
	CHECK_EQ(approxftl_region_begin(handle, APPROXFTL_APPROXIMATE, "outer"), 0);
	CHECK_EQ(approxftl_region_begin(handle, APPROXFTL_PRECISE, "inner"), 0);
	CHECK_EQ(fake_control.scope, APPROXFTL_PRECISE);
	CHECK_TEXT(fake_control.scope_label, "inner");
	CHECK_EQ(pthread_create(&thread, NULL, begin_precise_region_in_thread, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(approxftl_region_end(handle), 0);
	CHECK_EQ(fake_control.scope, APPROXFTL_APPROXIMATE);
	CHECK_TEXT(fake_control.scope_label, "outer");
	fake_control.refuse = EIO;
	CHECK_EQ(approxftl_region_end(handle), -EIO);
	fake_control.refuse = 0;
	CHECK_EQ(approxftl_region_end(handle), 0);
	CHECK_EQ(fake_control.scope, APPROXFTL_NONE);
	CHECK_TEXT(fake_control.scope_label, "outer");
	CHECK_EQ(approxftl_region_end(handle), -EINVAL);
	CHECK_EQ(approxftl_region_begin(handle, APPROXFTL_APPROXIMATE, "left open"), 0);
	close_fake_library();
}

TAP_TEST(labels_of_invalid_length_or_text_are_refused)
{
	char text[APPROXFTL_LABEL_MAX + 2];

	open_fake_library();
	memset(text, 'x', sizeof(text));
	text[APPROXFTL_LABEL_MAX + 1] = '\0';
	CHECK_EQ(approxftl_label(handle, text), -EINVAL);
	text[APPROXFTL_LABEL_MAX] = '\0';
	CHECK_EQ(approxftl_label(handle, text), 0);
	CHECK_TEXT(fake_control.note, text);
	CHECK_EQ(approxftl_label(handle, ""), -EINVAL);
	CHECK_EQ(approxftl_region_begin(handle, APPROXFTL_PRECISE, "two\nlines"), -EINVAL);
	close_fake_library();
}

TAP_TEST(a_write_has_the_data_class_of_its_call)
{
	struct approxftl_extent extent;
	char back[4] = "";

	open_fake_library();
	CHECK_EQ(approxftl_pwrite(handle, fd, "data", 4, 4096, APPROXFTL_APPROXIMATE), 4);
	CHECK_EQ(pread(fd, back, 4, 4096), 4);
	CHECK_EQ(memcmp(back, "data", 4), 0);
	CHECK_EQ(approxftl_query(handle, fd, 0, &extent, 1), 1);
	check_tagged_extent(&extent, 4096, 4, APPROXFTL_APPROXIMATE);
	CHECK_EQ(approxftl_pwrite(handle, fd, "data", 4, 0, APPROXFTL_NONE), -EINVAL);
	CHECK_EQ(approxftl_pwrite(handle, fd, "data", 4, -1, APPROXFTL_PRECISE), -EINVAL);
	fake_control.refuse = EPERM;
	fake_control.reason = APPROXFTL_REASON_OWNER;
	CHECK_EQ(approxftl_pwrite(handle, fd, "data", 4, 0, APPROXFTL_PRECISE), -EPERM);
	CHECK_CONTAINS(approxftl_reason(handle), "somebody else's");
	close_fake_library();
}

TAP_TEST(flipped_bits_of_a_range_are_returned)
{
	struct approxftl_errors errors;

	open_fake_library();
	fake_control.most = 5;
	fake_control.flips = 3;
	CHECK_EQ(approxftl_tag(handle, fd, FAKE_UNIT, 7 * FAKE_UNIT, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_errors(handle, fd, 0, APPROXFTL_TO_END, &errors), 0);
	CHECK_EQ(errors.unit_bytes, FAKE_UNIT);
	CHECK_EQ(errors.units, 16);
	CHECK_EQ(errors.approximate_units, 7);
	CHECK_EQ(errors.flipped_units, 7);
	CHECK_EQ(errors.flipped_bits, 21);
	CHECK_EQ(errors.raw_errors, 42);
	CHECK_EQ(approxftl_errors(handle, fd, 2 * FAKE_UNIT, 1, &errors), 0);
	CHECK_EQ(errors.units, 1);
	CHECK_EQ(approxftl_errors(handle, fd, 0, 0, &errors), 0);
	CHECK_EQ(errors.units, 0);
	CHECK_EQ(approxftl_errors(handle, fd, 0, -3, &errors), -EINVAL);
	fake_control.elsewhere = true;
	CHECK_EQ(approxftl_errors(handle, fd, 0, -1, &errors), -EOPNOTSUPP);
	CHECK_CONTAINS(approxftl_reason(handle), "not on a device of dm-approxftl");
	close_fake_library();
}

TAP_TEST(classes_and_flipped_bits_of_single_units_are_returned)
{
	struct approxftl_unit units[16];
	off_t from = 100;

	open_fake_library();
	fake_control.most = 4;
	CHECK_EQ(approxftl_tag(handle, fd, 0, FAKE_UNIT, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_stored(handle, fd, &from, APPROXFTL_TO_END, units, 6), 6);
	CHECK_EQ(units[0].class, APPROXFTL_APPROXIMATE);
	CHECK_EQ(units[5].class, APPROXFTL_PRECISE);
	CHECK_EQ(units[5].offset, 5 * FAKE_UNIT);
	CHECK_EQ(from, 6 * FAKE_UNIT);
	CHECK_EQ(approxftl_stored(handle, fd, &from, APPROXFTL_TO_END, units, 16), 10);
	CHECK_EQ(from, APPROXFTL_TO_END);
	CHECK_EQ(approxftl_stored(handle, fd, &from, APPROXFTL_TO_END, units, 16), 0);
	from = 2 * FAKE_UNIT;
	fake_control.refuse = EINTR;
	CHECK_EQ(approxftl_stored(handle, fd, &from, APPROXFTL_TO_END, units, 16), -EINTR);
	CHECK_EQ(from, 2 * FAKE_UNIT);
	close_fake_library();
}

/* Without the control device all library calls succeed, and writes are precise. */
TAP_TEST(without_the_control_device_calls_succeed_and_tag_nothing)
{
	struct approxftl_errors errors = { .units = 1 };
	struct approxftl_info info = { .version = 1 };
	struct approxftl_extent extent;
	char back[4] = "";

	reset_fake_control_device();
	fake_control.missing = ENOENT;
	CHECK_EQ(approxftl_open(path, APPROXFTL_REQUIRE, &handle), -ENODEV);
	CHECK(!handle);
	CHECK_CONTAINS(approxftl_reason(NULL), "load the module");
	CHECK_EQ(approxftl_open(path, 0, &handle), 0);
	CHECK(!approxftl_active(handle));
	CHECK_EQ(approxftl_tag(handle, fd, 0, -1, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_tag(handle, fd, 0, -2, APPROXFTL_APPROXIMATE), -EINVAL);
	CHECK_EQ(approxftl_query(handle, fd, 0, &extent, 1), 0);
	CHECK_EQ(approxftl_region_begin(handle, APPROXFTL_APPROXIMATE, "r"), 0);
	CHECK_EQ(approxftl_region_end(handle), 0);
	CHECK_EQ(approxftl_region_end(handle), -EINVAL);
	CHECK_EQ(approxftl_label(handle, "x"), 0);
	CHECK_EQ(approxftl_pwrite(handle, fd, "zero", 4, 0, APPROXFTL_APPROXIMATE), 4);
	CHECK_EQ(pread(fd, back, 4, 0), 4);
	CHECK_EQ(memcmp(back, "zero", 4), 0);
	CHECK_EQ(approxftl_errors(handle, fd, 0, -1, &errors), 0);
	CHECK_EQ(errors.units, 0);
	CHECK_EQ(approxftl_remember(handle, fd), 0);
	CHECK_EQ(approxftl_recall(handle, fd), 0);
	CHECK_EQ(approxftl_watch(handle, fd, true), 0);
	CHECK_EQ(approxftl_caps(handle, &info), 0);
	CHECK_EQ(info.version, 0);
	CHECK_EQ(fake_control.calls, 0);
	close_fake_library();
}

TAP_TEST(opening_a_file_that_is_on_no_device_is_refused_or_inactive)
{
	struct approxftl_info info;

	reset_fake_control_device();
	CHECK_EQ(approxftl_open(path, 2, &handle), -EINVAL);
	CHECK_EQ(approxftl_open("/nonexistent", 0, &handle), -ENOENT);
	CHECK_EQ(approxftl_open("/proc/self/stat", APPROXFTL_REQUIRE, &handle), 0);
	close_fake_library();
	fake_control.elsewhere = true;
	CHECK_EQ(approxftl_open("/proc/self/stat", APPROXFTL_REQUIRE, &handle), -ENODEV);
	CHECK_CONTAINS(approxftl_reason(NULL), "not on a device of dm-approxftl");
	CHECK_EQ(approxftl_open("/proc/self/stat", 0, &handle), 0);
	CHECK(!approxftl_active(handle));
	close_fake_library();
	fake_control.missing = EACCES;
	CHECK_EQ(approxftl_open(NULL, APPROXFTL_REQUIRE, &handle), -EACCES);
	CHECK_CONTAINS(approxftl_reason(NULL), "adduser USER approxftl");
	fake_control.missing = 0;
	CHECK_EQ(approxftl_open(NULL, APPROXFTL_REQUIRE, &handle), 0);
	CHECK_EQ(approxftl_caps(handle, &info), 0);
	CHECK_EQ(info.max_ranges, 262144);
	CHECK_EQ(info.may, APPROXFTL_CAN_FILE | APPROXFTL_CAN_BUFFER | APPROXFTL_CAN_SCOPE |
			   APPROXFTL_CAN_STORED | APPROXFTL_CAN_NOTE);
	close_fake_library();
	approxftl_close(NULL);
}

TAP_TEST(the_extended_attribute_of_tags_is_parsed_and_printed)
{
	static const char *const wrong[] = {
		"0", "+1", "0+0", "-1+", "0x10+", "0+1=", "0+1=near", "0+1 =precise",
		"9223372036854775808+", "0+1=approximate_4", "0+1=approximate_1",
	};
	struct approxftl_extent extent;
	const char *text = " 0+4096=precise\n4096+ 5+6=approximate ";
	unsigned int i;

	CHECK_EQ(aftl_lib_attribute_parse(&text, &extent), 1);
	check_tagged_extent(&extent, 0, 4096, APPROXFTL_PRECISE);
	CHECK_EQ(aftl_lib_attribute_parse(&text, &extent), 1);
	check_tagged_extent(&extent, 4096, -1, APPROXFTL_APPROXIMATE);
	CHECK_EQ(aftl_lib_attribute_parse(&text, &extent), 1);
	check_tagged_extent(&extent, 5, 6, APPROXFTL_APPROXIMATE);
	CHECK_EQ(aftl_lib_attribute_parse(&text, &extent), 0);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		int ret;

		text = wrong[i];
		do
			ret = aftl_lib_attribute_parse(&text, &extent);
		while (ret > 0);
		CHECK_MSG(ret == -EINVAL, "\"%s\" was taken", wrong[i]);
	}
}

static u64 count_units_of_quality_level(unsigned int level)
{
	struct approxftl_errors errors;

	CHECK_EQ(approxftl_level_errors(handle, fd, 0, APPROXFTL_TO_END, level, &errors), 0);
	return errors.units;
}

static void check_stored_levels(void)
{
	struct approxftl_extent extents[4];
	struct approxftl_errors errors;

	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 4), 3);
	check_tagged_extent(&extents[0], 0, FAKE_UNIT, APPROXFTL_APPROXIMATE);
	CHECK_EQ(extents[0].level, 1);
	check_tagged_extent(&extents[1], FAKE_UNIT, 3 * FAKE_UNIT, APPROXFTL_APPROXIMATE);
	CHECK_EQ(extents[1].level, 2);
	check_tagged_extent(&extents[2], 8 * FAKE_UNIT, -1, APPROXFTL_APPROXIMATE);
	CHECK_EQ(extents[2].level, 3);
	CHECK_EQ(count_units_of_quality_level(0), 4);
	CHECK_EQ(count_units_of_quality_level(1), 1);
	CHECK_EQ(count_units_of_quality_level(2), 3);
	CHECK_EQ(count_units_of_quality_level(3), 8);
	CHECK_EQ(approxftl_errors(handle, fd, 0, APPROXFTL_TO_END, &errors), 0);
	CHECK_EQ(errors.approximate_units, 12);
	CHECK_EQ(approxftl_level_errors(handle, fd, 0, 1, 4, &errors), -EINVAL);
}

TAP_TEST(quality_levels_are_passed_to_the_kernel)
{
	char text[128] = "";

	open_fake_library();
	CHECK_EQ(approxftl_tag(handle, fd, 0, FAKE_UNIT, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_tag(handle, fd, FAKE_UNIT, 3 * FAKE_UNIT, approxftl_level_class(2)), 0);
	CHECK_EQ(approxftl_tag(handle, fd, 8 * FAKE_UNIT, -1, approxftl_level_class(3)), 0);
	CHECK_EQ(approxftl_tag(handle, fd, 0, 1, approxftl_level_class(4)), -EINVAL);
	CHECK_EQ(approxftl_tag(handle, fd, 0, 1, (enum approxftl_class)5), -EINVAL);
	check_stored_levels();
	CHECK_EQ(approxftl_remember(handle, fd), 0);
	CHECK(fgetxattr(fd, "user.approxftl", text, sizeof(text) - 1) > 0);
	CHECK_TEXT(text, "0+4096 4096+12288=approximate_2 32768+=approximate_3");
	CHECK_EQ(approxftl_untag(handle, fd, 0, APPROXFTL_TO_END), 0);
	CHECK_EQ(approxftl_recall(handle, fd), 3);
	check_stored_levels();
	CHECK_TEXT(approxftl_class_name(APPROXFTL_LEVEL_3), "approximate_3");
	close_fake_library();
}

TAP_TEST(tags_are_remembered_and_recalled)
{
	struct approxftl_extent extents[2];
	char text[64] = "";

	open_fake_library();
	fremovexattr(fd, "user.approxftl");
	CHECK_EQ(approxftl_recall(handle, fd), 0);
	CHECK_EQ(approxftl_tag(handle, fd, 0, -1, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_protect(handle, fd, 0, 4096), 0);
	CHECK_EQ(approxftl_remember(handle, fd), 0);
	CHECK(fgetxattr(fd, "user.approxftl", text, sizeof(text)) > 0);
	CHECK_TEXT(text, "0+4096=precise 4096+");
	CHECK_EQ(approxftl_untag(handle, fd, 0, -1), 0);
	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 2), 0);
	CHECK_EQ(approxftl_recall(handle, fd), 2);
	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 2), 2);
	check_tagged_extent(&extents[1], 4096, -1, APPROXFTL_APPROXIMATE);
	CHECK_EQ(approxftl_untag(handle, fd, 0, -1), 0);
	CHECK_EQ(approxftl_remember(handle, fd), 0);
	CHECK_EQ(fgetxattr(fd, "user.approxftl", text, sizeof(text)), -1);
	CHECK_EQ(fsetxattr(fd, "user.approxftl", "0+ 5", 4, 0), 0);
	CHECK_EQ(approxftl_recall(handle, fd), -EINVAL);
	CHECK_EQ(approxftl_query(handle, fd, 0, extents, 2), 0);
	fremovexattr(fd, "user.approxftl");
	close_fake_library();
}

TAP_TEST(too_many_ranges_to_remember_are_refused)
{
	int i;

	open_fake_library();
	for (i = 0; i < 1000; i++)
		CHECK_EQ(approxftl_tag(handle, fd, 100000 * i, 1, APPROXFTL_APPROXIMATE), 0);
	CHECK_EQ(approxftl_remember(handle, fd), -E2BIG);
	CHECK_CONTAINS(approxftl_reason(handle), "4096");
	close_fake_library();
}

TAP_TEST(an_arena_allocates_and_frees_pieces)
{
	struct approxftl_arena *arena;
	char *first, *second, *third;

	open_fake_library();
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(approxftl_arena_create(handle, fd, &arena), 0);
	first = approxftl_alloc(arena, 1);
	second = approxftl_alloc(arena, 5000);
	CHECK(first && second);
	CHECK_EQ(approxftl_arena_offset(arena, first), 0);
	CHECK_EQ(second - first, 4096);
	third = approxftl_alloc(arena, 3 << 20);
	CHECK(third && (uintptr_t)third % 4096 == 0);
	memset(third, 7, 3 << 20);
	approxftl_free(arena, first);
	approxftl_free(arena, second);
	CHECK(approxftl_alloc(arena, 3 * 4096) == first);
	approxftl_free(arena, NULL);
	CHECK_EQ(approxftl_arena_offset(arena, &arena), -EINVAL);
	CHECK(!approxftl_arena_at(arena, -1));
	CHECK(!approxftl_alloc(arena, 0));
	CHECK(!approxftl_alloc(arena, SIZE_MAX - 100));
	CHECK_EQ(approxftl_arena_sync(arena), 0);
	approxftl_arena_destroy(arena);
	close_fake_library();
}

TAP_TEST(a_named_arena_persists_in_its_file)
{
	struct approxftl_extent extent;
	struct approxftl_arena *arena;
	char *memory;
	off_t offset;

	open_fake_library();
	CHECK_EQ(approxftl_arena_create(handle, fd, &arena), 0);
	CHECK_EQ(approxftl_query(handle, fd, 0, &extent, 1), 1);
	check_tagged_extent(&extent, 0, -1, APPROXFTL_APPROXIMATE);
	memory = approxftl_alloc(arena, 100);
	offset = approxftl_arena_offset(arena, memory);
	CHECK_EQ(offset, 16 * FAKE_UNIT);
	CHECK_EQ(*memory, 0);
	memcpy(memory, "kept", sizeof("kept"));
	approxftl_arena_destroy(arena);
	CHECK_EQ(approxftl_arena_create(handle, fd, &arena), 0);
	memory = approxftl_arena_at(arena, offset);
	CHECK_TEXT(memory, "kept");
	CHECK(approxftl_alloc(arena, 1) > (void *)memory);
	approxftl_arena_destroy(arena);
	fake_control.refuse = EPERM;
	CHECK_EQ(approxftl_arena_create(handle, fd, &arena), -EPERM);
	CHECK(!arena);
	close_fake_library();
}

TAP_TEST(an_arena_may_be_in_a_memory_file)
{
	int buffer = memfd_create("buffer", MFD_CLOEXEC);
	struct approxftl_arena *arena;
	char *memory;

	open_fake_library();
	CHECK_EQ(approxftl_arena_create(handle, buffer, &arena), 0);
	close(buffer);
	memory = approxftl_alloc(arena, 10000);
	memory[9999] = 1;
	approxftl_arena_destroy(arena);
	close_fake_library();
}

static pthread_barrier_t together;

/* Threads allocate disjoint pieces of one arena. */
static void *allocate_arena_memory_in_thread(void *argument)
{
	struct approxftl_arena *arena = argument;
	pthread_t self = pthread_self();
	int i, j;

	pthread_barrier_wait(&together);
	for (i = 0; i < 300000; i++) {
		pthread_t *memory = approxftl_alloc(arena, 4096 * (1 + i % 5));

		for (j = 0; j < 64; j++)
			memory[j] = self;
		for (j = 0; j < 64; j++)
			if (memory[j] != self)
				return arena;
		approxftl_free(arena, memory);
	}
	return NULL;
}

TAP_TEST(several_threads_may_use_an_arena)
{
	struct approxftl_arena *arena;
	pthread_t threads[4];
	void *wrong;
	int i;

	open_fake_library();
	CHECK_EQ(approxftl_arena_create(handle, fd, &arena), 0);
	CHECK_EQ(pthread_barrier_init(&together, NULL, 4), 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, allocate_arena_memory_in_thread, arena),
			 0);
	for (i = 0; i < 4; i++) {
		CHECK_EQ(pthread_join(threads[i], &wrong), 0);
		CHECK(!wrong);
	}
	approxftl_arena_destroy(arena);
	close_fake_library();
}

int main(void)
{
	int ret;

	path = strdup("/var/tmp/aftl-library-XXXXXX");
	fd = path ? mkstemp(path) : -1;
	if (fd < 0)
		tap_bail_out("no temporary file");
	ret = tap_run_all();
	unlink(path);
	free(path);
	close(fd);
	return ret;
}
