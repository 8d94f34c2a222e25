// SPDX-License-Identifier: GPL-2.0-only
#include "core/base/random.h"
#include "trace-change.h"

static int parse_sample_seed_and_ratio(const char *words, struct trace_change *change,
				       struct aftl_error *error)
{
	struct text_cursor text = { words, words + strlen(words) };
	u64 ratio;

	if (!text_get_u64(&text, &change->sample_seed) || !text_skip_if_equal(&text, ':') ||
	    !text_get_scaled_decimal(&text, TRACE_SCALE_ONE, &ratio) || !is_text_at_end(&text) ||
	    !ratio || ratio > TRACE_SCALE_ONE)
		return aftl_fail(error, -EINVAL,
				 "--sample: \"%.40s\" is not SEED:RATIO, such as 1:0.25", words);
	change->sample = ratio == TRACE_SCALE_ONE ? 0 : U64_MAX / TRACE_SCALE_ONE * ratio;
	return 0;
}

int trace_change_init(struct trace_change *change, const struct trace_options *options,
		      struct aftl_error *error)
{
	*change = (struct trace_change){
		.keep_time = options->keep_time,
		.scale = options->scale_lba,
		.fold = options->fold_bytes,
		.device_bytes = options->device_bytes,
	};
	if (options->keep_time && options->rebase)
		return aftl_fail(error, -EINVAL, "--keep-time and --rebase exclude each other");
	if (change->fold % TRACE_SECTOR)
		return aftl_fail(error, -EINVAL, "--fold must be a multiple of 512");
	if (options->sample)
		return parse_sample_seed_and_ratio(options->sample, change, error);
	return 0;
}

/* Scale a request's offset in steps of 4 KiB; the offset within a step keeps its alignment. */
static void scale_request(const struct trace_change *change, struct trace_request *request)
{
	u64 step = request->offset / TRACE_SCALE_BYTES;

	step = (u64)((__uint128_t)step * change->scale / TRACE_SCALE_ONE);
	request->offset = step * TRACE_SCALE_BYTES + request->offset % TRACE_SCALE_BYTES;
}

static int wrap_request_to_limit(struct trace_change *change, struct trace_request *request,
				 struct trace_request *rest, struct aftl_error *error)
{
	if (request->bytes > change->fold)
		return aftl_fail(error, -ERANGE,
				 "--fold is smaller than a request of %llu bytes",
				 (unsigned long long)request->bytes);
	change->folded += request->offset + request->bytes > change->fold;
	request->offset %= change->fold;
	if (request->offset + request->bytes <= change->fold)
		return 0;
	*rest = *request;
	rest->offset = 0;
	rest->bytes = request->offset + request->bytes - change->fold;
	rest->preflush = false;
	request->bytes -= rest->bytes;
	return 0;
}

static void shift_request_time(struct trace_change *change, struct trace_request *request)
{
	if (!change->begun)
		change->first_ns = request->t_ns;
	change->begun = true;
	request->t_ns -= change->first_ns;
}

int trace_change_apply(struct trace_change *change, struct trace_request *request,
		       struct trace_request *rest, struct aftl_error *error)
{
	int ret = 0;

	rest->bytes = 0;
	if (change->sample && request->bytes &&
	    aftl_hash64_pair(change->sample_seed, request->offset / TRACE_SAMPLE_BYTES) >=
	    change->sample) {
		change->left_out++;
		return 0;
	}
	if (!change->keep_time)
		shift_request_time(change, request);
	if (change->scale)
		scale_request(change, request);
	if (change->fold)
		ret = wrap_request_to_limit(change, request, rest, error);
	if (!ret && rest->bytes && !change->keep_time)
		rest->t_ns = request->t_ns;
	if (!ret && change->device_bytes &&
	    request->offset + request->bytes > change->device_bytes)
		ret = aftl_fail(error, -ERANGE,
				"a request ends at byte %llu, beyond --device-bytes; --fold brings it back",
				(unsigned long long)request->offset + request->bytes);
	return ret ? ret : 1;
}
