/* SPDX-License-Identifier: BSD-2-Clause */
#include "libwick/reload_samples.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wick/profile.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/scope.h"
#include "libwick/profile_handle.h"
#include "libwick/sized_struct.h"

struct reload {
	struct arena arena; /* all texts */
	const char *path;
	struct stat status; /* when it was loaded */
	struct wick_load_options options;
};

bool reload_is_possible(const char *path)
{
	struct stat status;

	return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Replaces a text by a copy. Returns false if out of memory. */
static bool keep(struct reload *reload, const char **text)
{
	if (*text)
		*text = arena_strndup(&reload->arena, *text, strlen(*text));
	return *text;
}

static bool keep_list(struct reload *reload, const char *const **list)
{
	const char **copy;
	size_t count = 0;

	if (!*list)
		return true;
	while ((*list)[count])
		count++;
	copy = arena_alloc(&reload->arena, (count + 1) * sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = (*list)[i];
		if (!keep(reload, &copy[i]))
			return false;
	}
	if (copy)
		copy[count] = NULL;
	*list = copy;
	return copy;
}

static bool keep_options(struct reload *reload)
{
	struct wick_load_options *options = &reload->options;

	options->size = sizeof(*options);
	return (!options->event || keep(reload, &options->event)) &&
	       (!options->only || keep(reload, &options->only)) &&
	       (!options->ignore || keep(reload, &options->ignore)) &&
	       keep_list(reload, &options->symbol_paths);
}

struct reload *reload_new(const char *path, const struct wick_load_options *options)
{
	struct reload *reload = calloc(1, sizeof(*reload));
	SCOPED(mem) char *whole = realpath(path, NULL);

	if (!reload)
		return NULL;
	reload->path = whole;
	if (!whole || !keep(reload, &reload->path) || stat(reload->path, &reload->status) < 0 ||
	    sized_take(&reload->options, sizeof(reload->options), options, "wick_load_options",
		       NULL) < 0 ||
	    !keep_options(reload)) {
		reload_free(reload);
		return NULL;
	}
	return reload;
}

void reload_free(struct reload *reload)
{
	if (!reload)
		return;
	arena_fini(&reload->arena);
	free(reload);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns 1 with the request, 0 if the file was removed or changed, or a negative errno. */
static int begin(const struct reload *reload, struct load_request *request, struct error *err)
{
	struct stat status;
	int r;

	if (stat(reload->path, &status) < 0 || !is_same_file(&status, &reload->status))
		return 0;
	r = load_request_init(request, &reload->options, err);
	return r < 0 ? r : 1;
}

int reload_in_order(const struct reload *reload, struct profile **ret, struct error *err)
{
	struct load_request request;
	int r = begin(reload, &request, err);

	if (r <= 0)
		return r;
	request.options.order = true;
	r = load_profile(reload->path, &request.options, ret, err);
	return r < 0 ? r : 1;
}

int reload_in_slices(const struct reload *reload, struct profile **ret, struct error *err)
{
	struct load_request request;
	int r = begin(reload, &request, err);

	if (r <= 0)
		return r;
	request.options.slices = true;
	request.options.tracks = true;
	request.options.heap_usual_step_ns = LOAD_PAGE_HEAP_STEP_NS;
	r = load_profile(reload->path, &request.options, ret, err);
	return r < 0 ? r : 1;
}
