/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is behind a handle.
 */
#ifndef AFTL_LIB_HANDLE_H
#define AFTL_LIB_HANDLE_H

#include <pthread.h>

#include "approxftl.h"

struct aftl_lib_regions;

/**
 * struct approxftl - a handle
 * @control: descriptor of the control device; -1 if the handle is not active
 * @regions_key: of the regions of each thread
 * @lock: of @regions
 * @regions: of all threads, so that approxftl_close() can free them
 */
struct approxftl {
	int control;
	pthread_key_t regions_key;
	pthread_mutex_t lock;
	struct aftl_lib_regions *regions;
};

/* Makes the key, and frees everything. */
int aftl_lib_regions_begin(struct approxftl *a);
void aftl_lib_regions_end(struct approxftl *a);

#endif
