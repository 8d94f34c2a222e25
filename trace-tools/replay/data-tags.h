/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes the class of a request to the device: as a tag of the memory that holds its data.
 */
#ifndef AFTL_DATA_TAGS_H
#define AFTL_DATA_TAGS_H

#include "core/base/params.h"

/* Kinds of data memory, by quality level. Classes whose names contain no level are precise. */
enum data_kind {
	DATA_PRECISE,
	DATA_APPROXIMATE,
	DATA_KINDS = AFTL_LEVELS,
};

/* Statistics of flipped bits distinguish precise and approximate data only. */
#define DATA_CLASSES (DATA_APPROXIMATE + 1)

/**
 * data_tags_open() - open the control device
 *
 * Return: a descriptor for data_tags_tag_memfd(), or a negative error number with a message.
 */
int __must_check data_tags_open(struct aftl_error *error);

/**
 * data_tags_tag_memfd() - tag a whole memfd as memory of one class
 *
 * Precise data are tagged explicitly, too: the tag overrides tagged ranges of the device and I/O
 * priorities. A kernel without quality levels gets the tag "approximate" for levels 2 and 3.
 */
int __must_check data_tags_tag_memfd(int control, int memfd, enum data_kind kind,
				     struct aftl_error *error);

#endif
