/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the class of a request reaches the device: as the tag of the memory that it is in.
 */
#ifndef AFTL_DATA_TAGS_H
#define AFTL_DATA_TAGS_H

#include "core/base/params.h"

/* Kinds of memory: quality levels of data. Classes whose name says no level are precise. */
enum data_kind {
	DATA_PRECISE,
	DATA_APPROXIMATE,
	DATA_KINDS = AFTL_LEVELS,
};

/* In what is told of data all that are approximate are one. */
#define DATA_CLASSES (DATA_APPROXIMATE + 1)

/**
 * data_tags_open() - is there somebody to tell?
 *
 * Return: a descriptor for data_tags_mark(), or a negative error number with the sentence.
 */
int __must_check data_tags_open(struct aftl_error *error);

/**
 * data_tags_mark() - all of a memfd is of that kind from now on
 *
 * Precise is said, too: it then holds against ranges of the device and priorities. A kernel that
 * knows no levels is told that it is approximate.
 */
int __must_check data_tags_mark(int control, int memfd, enum data_kind kind,
				struct aftl_error *error);

#endif
