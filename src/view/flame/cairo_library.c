/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/cairo_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

/* The ABI of this name has not changed since 2005. */
#define FILE_NAME "libcairo.so.2"

#define FUNCTION(name)                                                                             \
	{                                                                                          \
		"cairo_" #name, offsetof(struct cairo_library, name)                               \
	}

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	FUNCTION(image_surface_create_for_data),
	FUNCTION(surface_flush),
	FUNCTION(surface_destroy),
	FUNCTION(create),
	FUNCTION(destroy),
	FUNCTION(status),
	FUNCTION(status_to_string),
	FUNCTION(save),
	FUNCTION(restore),
	FUNCTION(scale),
	FUNCTION(translate),
	FUNCTION(set_source_rgb),
	FUNCTION(set_source_rgba),
	FUNCTION(set_line_width),
	FUNCTION(set_dash),
	FUNCTION(rectangle),
	FUNCTION(move_to),
	FUNCTION(line_to),
	FUNCTION(clip),
	FUNCTION(fill),
	FUNCTION(stroke),
	FUNCTION(paint),
	FUNCTION(select_font_face),
	FUNCTION(set_font_size),
	FUNCTION(show_text),
	FUNCTION(font_options_create),
	FUNCTION(font_options_destroy),
	FUNCTION(font_options_set_antialias),
	FUNCTION(font_options_set_hint_style),
	FUNCTION(font_options_set_hint_metrics),
	FUNCTION(set_font_options),
};

static int refuse(struct error *err)
{
	const char *why = dlerror();

	(void)error_set(err, -EOPNOTSUPP, "cannot draw a PNG: %.300s",
			why ? why : FILE_NAME " is not usable");
	error_remedy(err, "install libcairo2, or write an SVG, which needs no library");
	return -EOPNOTSUPP;
}

/* It is never closed: the libraries that it loads do not support unloading. */
int cairo_library_load(struct cairo_library *cairo, struct error *err)
{
	size_t i;

	cairo->handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	if (!cairo->handle)
		return refuse(err);
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = dlsym(cairo->handle, functions[i].name);

		if (!symbol)
			return refuse(err);
		memcpy((char *)cairo + functions[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}
