// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that cover a part of a logical page (read-modify-write). Before such a write is admitted,
 * the page is read as for a host read, unless the write buffer has it or it is not mapped. The host
 * joins both parts (struct aftl_host_ops: read, then accept), so that the write buffer and flash
 * hold whole pages only.
 *
 * While a write reads, no other write to its range is admitted: neither could overwrite the part
 * that it keeps, nor overtake it. Writes are admitted in the order of their arrival otherwise, and
 * a write that has read goes before those that wait.
 */
#include "core/ftl/command.h"
#include "core/ftl/controller.h"
#include "core/ftl/l2p.h"
#include "core/ftl/pending-writes.h"
#include "core/hif/hif.h"
#include "core/hif/host-read.h"

static bool partial_write_ranges_overlap(const struct aftl_request *a, const struct aftl_request *b)
{
	return a->unit < b->unit + b->units && b->unit < a->unit + a->units;
}

static bool partial_write_is_in_progress(const struct aftl *ftl, const struct aftl_request *request)
{
	u32 i;

	for (i = 0; i < ftl->rest.count; i++)
		if (partial_write_ranges_overlap(ftl->rest.requests[i], request))
			return true;
	return false;
}

/* Count the pages that @request covers in part, and set @flash if one of them is on flash. */
static u32 partial_write_count_pages(const struct aftl *ftl, const struct aftl_request *request,
				     bool *flash)
{
	u32 last = request->units - 1;
	u32 count = 0;

	*flash = false;
	if (aftl_request_page_is_partial(request, 0)) {
		count++;
		*flash |= aftl_read_needs_flash(ftl, to_lpn(request->unit));
	}
	if (last && aftl_request_page_is_partial(request, last)) {
		count++;
		*flash |= aftl_read_needs_flash(ftl, to_lpn(request->unit + last));
	}
	return count;
}

static enum aftl_rest_step partial_must_wait(struct aftl *ftl)
{
	ftl->rest.awaited = true;
	return AFTL_REST_STEP_WAIT;
}

/**
 * aftl_partial_next_step() - decide if a write is admitted, reads the rest of a page, or waits
 * @ftl: device
 * @request: a write, the oldest that waits
 *
 * Return: AFTL_REST_STEP_READ if @request reads now; then it is the next request to be admitted.
 */
enum aftl_rest_step aftl_partial_next_step(struct aftl *ftl, struct aftl_request *request)
{
	bool flash;
	u32 pages;

	ftl->rest.awaited = false;
	if (request->admitted || request->rest == AFTL_REST_READ || ftl->read_only)
		return AFTL_REST_STEP_ADMIT;
	if (partial_write_is_in_progress(ftl, request))
		return partial_must_wait(ftl);
	pages = partial_write_count_pages(ftl, request, &flash);
	if (!pages)
		return AFTL_REST_STEP_ADMIT;
	if (!flash) {
		aftl_deliver_buffered_partly_written_pages(ftl, request);
		request->rest = AFTL_REST_READ;
		return AFTL_REST_STEP_ADMIT;
	}
	if (ftl->rest.count == AFTL_REST_READS)
		return partial_must_wait(ftl);
	ftl->rest.requests[ftl->rest.count++] = request;
	request->rest = AFTL_REST_READING;
	request->parts = pages;
	aftl_start_reads_of_partly_written_pages(ftl, request);
	return AFTL_REST_STEP_READ;
}

/**
 * aftl_zero_unwritten_part_of_discarded_page() - zero the rest of a page that was discarded
 * @ftl: device
 * @request: a write
 * @lpn: logical page of which @request covers a part, about to be accepted
 *
 * The page may have been discarded since @request has read the rest.
 */
void aftl_zero_unwritten_part_of_discarded_page(struct aftl *ftl, struct aftl_request *request,
						aftl_lpn_t lpn)
{
	struct aftl_read read = { .lpn = lpn, .source = AFTL_SOURCE_ZERO };
	u32 tag = aftl_pending_find_newest_write(ftl, lpn);
	aftl_ppn_t ppn;

	if (tag != AFTL_NIL && !(ftl->commands[tag].flags & AFTL_COMMAND_SUPERSEDED))
		return;
	if (!aftl_l2p_lookup(ftl, lpn, &ppn) && ftl->ops->read)
		ftl->ops->read(ftl->host, request, &read);
}
