/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/flame.h>

#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "libwick/output_text.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/reload_samples.h"
#include "libwick/sized_struct.h"
#include "model/profile.h"
#include "view/page/flame_page.h"
#include "view/source_file.h"

_Static_assert((int)WICK_FLAME_CATEGORY == (int)FLAME_COLORS_CATEGORY &&
		       (int)WICK_FLAME_MODULE == (int)FLAME_COLORS_MODULE &&
		       (int)WICK_FLAME_HASH == (int)FLAME_COLORS_HASH &&
		       (int)WICK_FLAME_HEAT == (int)FLAME_COLORS_HEAT &&
		       (int)WICK_FLAME_CVD == (int)FLAME_COLORS_CVD &&
		       (int)WICK_FLAME_CONTRAST == (int)FLAME_COLORS_CONTRAST &&
		       (int)WICK_FLAME_LANGUAGE == (int)FLAME_COLORS_LANGUAGE,
	       "public and internal colours must match");

/* Draws one kind of picture; appends it to out. */
typedef int draw_fn(const struct wick_profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err);

static int check_options(const struct wick_flame_options *asked, struct error *err)
{
	if (asked->colors > WICK_FLAME_LANGUAGE)
		return error_advise(
			err, error_set(err, -EINVAL, "unknown colour scheme %u", asked->colors),
			"use a value of enum wick_flame_colors");
	if (asked->width_px > 0 && (asked->width_px < 200 || asked->width_px > 100000))
		return error_advise(err,
				    error_set(err, -ERANGE, "invalid flame graph width: %u px",
					      asked->width_px),
				    "use 200 to 100000, or 0 for the default width");
	return 0;
}

static int draw(draw_fn *fn, const struct wick_profile *profile,
		const struct wick_flame_options *given, struct bytes *out, struct error *err)
{
	struct flame_options options = FLAME_OPTIONS_DEFAULT;
	struct wick_flame_options asked;
	int r = need(profile, "the profile", err);

	if (r == 0)
		r = sized_take(&asked, sizeof(asked), given, "wick_flame_options", err);
	if (r == 0)
		r = check_options(&asked, err);
	if (r < 0)
		return r;
	options.title = asked.title;
	options.value_name = asked.value;
	options.colors = (enum flame_colors)asked.colors;
	if (asked.width_px > 0)
		options.width_px = asked.width_px;
	options.icicle = asked.icicle;
	options.inverted = asked.inverted;
	options.group = asked.by_thread ? CALL_TREE_BY_THREAD : CALL_TREE_BY_PROCESS;
	return fn(profile, &options, out, err);
}

static int draw_svg(const struct wick_profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err)
{
	return flame_write(profile->profile, options, out, err);
}

static int draw_png(const struct wick_profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err)
{
	return flame_write_png(profile->profile, options, out, err);
}

/* Its timeline needs the profile in slices of time, which takes a second look at the file. */
static int draw_html(const struct wick_profile *profile, const struct flame_options *options,
		     struct bytes *out, struct error *err)
{
	const struct source_search sources = {0}; /* read under the rules of source_file.h */
	const struct flame_page_options page = {.graph = *options, .sources = &sources};
	struct profile *sliced = NULL;
	int r = profile->reload ? reload_in_slices(profile->reload, &sliced, err) : 0;

	if (r < 0)
		return r;
	r = flame_page_write(sliced ? sliced : profile->profile, &page, out, err);
	profile_free(sliced);
	return r;
}

static int draw_file(draw_fn *fn, const struct wick_profile *profile,
		     const struct wick_flame_options *options, const char *path,
		     struct wick_error *err)
{
	struct bytes text = {0};
	struct error inner = {0};
	int r = draw(fn, profile, options, &text, &inner);

	if (r == 0)
		r = output_to_file(&text, path, &inner);
	bytes_fini(&text);
	return r < 0 ? public_error(&inner, err) : 0;
}

/* What to draw, and where the caller wants it. */
struct text_request {
	draw_fn *fn;
	char **ret_text;
	size_t *ret_size;
};

static int draw_text(const struct text_request *request, const struct wick_profile *profile,
		     const struct wick_flame_options *options, struct wick_error *err)
{
	struct bytes text = {0};
	struct error inner = {0};
	int r = draw(request->fn, profile, options, &text, &inner);

	if (r == 0)
		r = output_to_memory(&text, request->ret_text, request->ret_size, &inner);
	bytes_fini(&text);
	return r < 0 ? public_error(&inner, err) : 0;
}

int wick_flame_svg(const struct wick_profile *profile, const struct wick_flame_options *options,
		   const char *path, struct wick_error *err)
{
	return draw_file(draw_svg, profile, options, path, err);
}

int wick_flame_html(const struct wick_profile *profile, const struct wick_flame_options *options,
		    const char *path, struct wick_error *err)
{
	return draw_file(draw_html, profile, options, path, err);
}

int wick_flame_png(const struct wick_profile *profile, const struct wick_flame_options *options,
		   const char *path, struct wick_error *err)
{
	return draw_file(draw_png, profile, options, path, err);
}

int wick_flame_svg_text(const struct wick_profile *profile,
			const struct wick_flame_options *options, char **ret_text, size_t *ret_size,
			struct wick_error *err)
{
	const struct text_request request = {draw_svg, ret_text, ret_size};

	return draw_text(&request, profile, options, err);
}

int wick_flame_html_text(const struct wick_profile *profile,
			 const struct wick_flame_options *options, char **ret_text,
			 size_t *ret_size, struct wick_error *err)
{
	const struct text_request request = {draw_html, ret_text, ret_size};

	return draw_text(&request, profile, options, err);
}
