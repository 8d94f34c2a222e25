// SPDX-License-Identifier: GPL-2.0-only
/*
 * The binary interface of libapproxftl.so.1, which no release may change: this file compiles while
 * the header has these functions, structures and numbers. A new name comes with a new version in
 * libapproxftl.map and is added here when it is released.
 */
#include <approxftl.h>
#include <assert.h>

#define FUNCTION(name, type) \
	static_assert(__builtin_types_compatible_p(__typeof__(name) *, type), "a function's type")
#define SIZE(what, bytes) static_assert(sizeof(struct what) == (bytes), "the size of " #what)
#define MEMBER(what, member, at) static_assert(offsetof(struct what, member) == (at), "its place")
#define TYPE(member, type) \
	static_assert(__builtin_types_compatible_p(__typeof__(member), type), "its type")
#define NUMBER(name, value) static_assert((name) == (value), "the value of " #name)

FUNCTION(approxftl_open, int (*)(const char *, unsigned int, struct approxftl **));
FUNCTION(approxftl_close, void (*)(struct approxftl *));
FUNCTION(approxftl_active, bool (*)(const struct approxftl *));
FUNCTION(approxftl_reason, const char *(*)(const struct approxftl *));
FUNCTION(approxftl_explain, const char *(*)(enum approxftl_reason));
FUNCTION(approxftl_class_name, const char *(*)(enum approxftl_class));
FUNCTION(approxftl_caps, int (*)(struct approxftl *, struct approxftl_info *));
FUNCTION(approxftl_tag, int (*)(struct approxftl *, int, off_t, off_t, enum approxftl_class));
FUNCTION(approxftl_untag, int (*)(struct approxftl *, int, off_t, off_t));
FUNCTION(approxftl_protect, int (*)(struct approxftl *, int, off_t, off_t));
FUNCTION(approxftl_query,
	 int (*)(struct approxftl *, int, off_t, struct approxftl_extent *, size_t));
FUNCTION(approxftl_region_begin, int (*)(struct approxftl *, enum approxftl_class, const char *));
FUNCTION(approxftl_region_end, int (*)(struct approxftl *));
FUNCTION(approxftl_label, int (*)(struct approxftl *, const char *));
FUNCTION(approxftl_pwrite, ssize_t (*)(struct approxftl *, int, const void *, size_t, off_t,
				       enum approxftl_class));
FUNCTION(approxftl_errors,
	 int (*)(struct approxftl *, int, off_t, off_t, struct approxftl_errors *));
FUNCTION(approxftl_level_errors, int (*)(struct approxftl *, int, off_t, off_t, unsigned int,
					 struct approxftl_errors *));
FUNCTION(approxftl_stored,
	 int (*)(struct approxftl *, int, off_t *, off_t, struct approxftl_unit *, size_t));
FUNCTION(approxftl_remember, int (*)(struct approxftl *, int));
FUNCTION(approxftl_recall, int (*)(struct approxftl *, int));
FUNCTION(approxftl_watch, int (*)(struct approxftl *, int, bool));
FUNCTION(approxftl_arena_create, int (*)(struct approxftl *, int, struct approxftl_arena **));
FUNCTION(approxftl_alloc, void *(*)(struct approxftl_arena *, size_t));
FUNCTION(approxftl_free, void (*)(struct approxftl_arena *, void *));
FUNCTION(approxftl_arena_offset, off_t (*)(struct approxftl_arena *, const void *));
FUNCTION(approxftl_arena_at, void *(*)(struct approxftl_arena *, off_t));
FUNCTION(approxftl_arena_sync, int (*)(struct approxftl_arena *));
FUNCTION(approxftl_arena_destroy, void (*)(struct approxftl_arena *));

SIZE(approxftl_extent, 24);
MEMBER(approxftl_extent, offset, 0);
TYPE(((struct approxftl_extent *)0)->offset, int64_t);
MEMBER(approxftl_extent, length, 8);
TYPE(((struct approxftl_extent *)0)->length, int64_t);
MEMBER(approxftl_extent, kind, 16);
TYPE(((struct approxftl_extent *)0)->kind, uint32_t);
MEMBER(approxftl_extent, level, 20);
TYPE(((struct approxftl_extent *)0)->level, uint32_t);
SIZE(approxftl_unit, 32);
MEMBER(approxftl_unit, offset, 0);
TYPE(((struct approxftl_unit *)0)->offset, int64_t);
MEMBER(approxftl_unit, device_offset, 8);
TYPE(((struct approxftl_unit *)0)->device_offset, int64_t);
MEMBER(approxftl_unit, kind, 16);
TYPE(((struct approxftl_unit *)0)->kind, uint32_t);
MEMBER(approxftl_unit, flags, 20);
TYPE(((struct approxftl_unit *)0)->flags, uint32_t);
MEMBER(approxftl_unit, flips, 24);
TYPE(((struct approxftl_unit *)0)->flips, uint32_t);
MEMBER(approxftl_unit, raw, 28);
TYPE(((struct approxftl_unit *)0)->raw, uint32_t);
SIZE(approxftl_info, 64);
MEMBER(approxftl_info, version, 0);
TYPE(((struct approxftl_info *)0)->version, uint32_t);
MEMBER(approxftl_info, devices, 4);
TYPE(((struct approxftl_info *)0)->devices, uint32_t);
MEMBER(approxftl_info, can, 8);
TYPE(((struct approxftl_info *)0)->can, uint64_t);
MEMBER(approxftl_info, may, 16);
TYPE(((struct approxftl_info *)0)->may, uint64_t);
MEMBER(approxftl_info, max_files, 24);
TYPE(((struct approxftl_info *)0)->max_files, uint64_t);
MEMBER(approxftl_info, max_ranges, 32);
TYPE(((struct approxftl_info *)0)->max_ranges, uint64_t);
SIZE(approxftl_errors, 80);
MEMBER(approxftl_errors, unit_bytes, 0);
TYPE(((struct approxftl_errors *)0)->unit_bytes, uint64_t);
MEMBER(approxftl_errors, units, 8);
TYPE(((struct approxftl_errors *)0)->units, uint64_t);
MEMBER(approxftl_errors, approximate_units, 16);
TYPE(((struct approxftl_errors *)0)->approximate_units, uint64_t);
MEMBER(approxftl_errors, flipped_units, 24);
TYPE(((struct approxftl_errors *)0)->flipped_units, uint64_t);
MEMBER(approxftl_errors, lost_units, 32);
TYPE(((struct approxftl_errors *)0)->lost_units, uint64_t);
MEMBER(approxftl_errors, unmodelled_units, 40);
TYPE(((struct approxftl_errors *)0)->unmodelled_units, uint64_t);
MEMBER(approxftl_errors, flipped_bits, 48);
TYPE(((struct approxftl_errors *)0)->flipped_bits, uint64_t);
MEMBER(approxftl_errors, raw_errors, 56);
TYPE(((struct approxftl_errors *)0)->raw_errors, uint64_t);

NUMBER(APPROXFTL_REQUIRE, 1);
NUMBER(APPROXFTL_LABEL_MAX, 64);
NUMBER(APPROXFTL_PRECISE, 0);
NUMBER(APPROXFTL_APPROXIMATE, 1);
NUMBER(APPROXFTL_NONE, 2);
NUMBER(APPROXFTL_LEVEL_2, 3);
NUMBER(APPROXFTL_LEVEL_3, 4);
NUMBER(APPROXFTL_REASON_KIND, 1);
NUMBER(APPROXFTL_REASON_IN_USE, 11);
NUMBER(APPROXFTL_CAN_LEVEL, 0x80);
NUMBER(APPROXFTL_CAN_CARRIER, 0x100);
NUMBER(APPROXFTL_UNIT_LEVEL_3, 8);
