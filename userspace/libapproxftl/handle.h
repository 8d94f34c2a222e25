/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Definition of the handle.
 */
#ifndef AFTL_LIB_HANDLE_H
#define AFTL_LIB_HANDLE_H

#include <pthread.h>

#include "approxftl.h"

struct aftl_lib_regions;

/**
 * struct approxftl - a handle
 * @control: descriptor of the control device; -1 if the handle is inactive
 * @regions_key: thread-specific data: regions of the thread
 * @lock: protects @regions
 * @regions: regions of all threads, for approxftl_close()
 */
struct approxftl {
	int control;
	pthread_key_t regions_key;
	pthread_mutex_t lock;
	struct aftl_lib_regions *regions;
};

/* Create the thread-specific key @regions_key of a handle; or delete it and free all regions. */
int aftl_lib_regions_init(struct approxftl *a);
void aftl_lib_regions_free(struct approxftl *a);

#endif
