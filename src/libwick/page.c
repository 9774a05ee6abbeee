/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <wick/profile.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "model/profile.h"
#include "view/heap/page/heap_page.h"
#include "view/page/flame_page.h"

static int put_flame_page(const char *recording, struct load_options *options, struct bytes *out,
			  struct error *err)
{
	const struct flame_page_options view = {.graph = FLAME_OPTIONS_DEFAULT};
	struct profile *profile;
	int r;

	options->slices = options->tracks = true; /* for the timeline */
	options->heap_usual_step_ns = LOAD_PAGE_HEAP_STEP_NS;
	r = load_profile(recording, options, &profile, err);
	if (r < 0)
		return r;
	r = flame_page_write(profile, &view, out, err);
	profile_free(profile);
	return r;
}

static int put_heap_page(const char *recording, struct load_options *options, struct bytes *out,
			 struct error *err)
{
	const struct heap_page_options view = {0};
	struct heap_profile heap = {0};
	int r;

	options->heap_usual_step_ns = HEAP_FINE_STEP_NS;
	options->heap_addresses = true;
	r = load_heap(recording, options, &heap, err);
	if (r == 0)
		r = heap_page_write(&heap, &view, out, err);
	heap_profile_fini(&heap);
	return r;
}

static int write_page(const char *recording, struct load_options *options, uint32_t kind,
		      const char *path, struct error *err)
{
	struct bytes text = {0};
	int r;

	if (kind == WICK_PAGE_FLAME)
		r = put_flame_page(recording, options, &text, err);
	else if (kind == WICK_PAGE_HEAP)
		r = put_heap_page(recording, options, &text, err);
	else
		r = error_advise(err, error_set(err, -EINVAL, "unknown kind of page %u", kind),
				 "use a value of enum wick_page_kind");
	if (r == 0)
		r = outfile_write(path, NULL, text.data, text.size, err);
	bytes_fini(&text);
	return r;
}

int wick_page(const char *recording, const struct wick_load_options *options, uint32_t kind,
	      const char *path, struct wick_error *err)
{
	struct load_request request;
	struct error inner = {0};
	int r = load_request_init(&request, options, &inner);

	if (r == 0)
		r = need(recording, "the recording", &inner);
	if (r == 0)
		r = need(path, "the path", &inner);
	if (r == 0)
		r = write_page(recording, &request.options, kind, path, &inner);
	return r < 0 ? public_error(&inner, err) : 0;
}
