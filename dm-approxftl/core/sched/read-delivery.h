/* SPDX-License-Identifier: GPL-2.0-only */
/* Delivery of logical pages to the host. */
#ifndef AFTL_READ_DELIVERY_H
#define AFTL_READ_DELIVERY_H

#include "core/ftl/controller.h"
#include "core/ftl/lost-data.h"
#include "core/ftl/read-cache.h"

/* Return true for a read of the host, false for a write that reads the rest of a page. */
static inline bool aftl_request_is_host_read(const struct aftl_request *request)
{
	return request->op == AFTL_OP_READ;
}

static inline u32 aftl_flash_page_of_ppn(const struct aftl *ftl, aftl_ppn_t ppn)
{
	return aftl_page_of_ppn(&ftl->media, ppn);
}

/* Return the entry of @lpn in the read cache, if its data are there already. */
static inline struct aftl_read_cache_entry *aftl_read_cache_find_ready(const struct aftl *ftl,
								       aftl_lpn_t lpn)
{
	struct aftl_read_cache_entry *recent = aftl_read_cache_find(ftl, lpn);

	return recent && recent->flags & AFTL_READ_CACHE_READY ? recent : NULL;
}

bool aftl_ppn_is_not_reconstructable(const struct aftl *ftl, aftl_ppn_t ppn);

static inline bool aftl_ppn_is_lost_with_dead_lun(struct aftl *ftl, aftl_ppn_t ppn)
{
	return unlikely(aftl_ppn_is_in_dead_lun(ftl, ppn)) &&
	       aftl_ppn_is_not_reconstructable(ftl, ppn);
}

void aftl_deliver_unit_to_host(struct aftl *ftl, struct aftl_request *request,
			       const struct aftl_read *read);
void aftl_deliver_zero_page(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn);
void aftl_deliver_lost_page(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn);
void aftl_deliver_flash_page(struct aftl *ftl, struct aftl_request *request,
			     const struct aftl_read *read, u32 class);
void aftl_deliver_programming_page(struct aftl *ftl, struct aftl_request *request, aftl_lpn_t lpn,
				   aftl_ppn_t ppn);
void aftl_deliver_cached_page(struct aftl *ftl, struct aftl_request *request,
			      struct aftl_read_cache_entry *recent);

#endif
