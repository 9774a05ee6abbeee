/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/suppressions.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/leak.h"

void suppressions_fini(struct suppressions *list)
{
	vec_fini(&list->rules);
	vec_fini(&list->frames);
	arena_fini(&list->arena);
	*list = (struct suppressions){0};
}

bool suppression_glob(const char *pattern, const char *text)
{
	const char *star = NULL; /* the last star seen */
	const char *from = NULL; /* where the text continues after it */

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool begins_with(const char *pattern, size_t size, const char *text)
{
	return strncmp(pattern, text, size) == 0;
}

/*
 * As in LeakSanitizer: a pattern matches anywhere in the text, ^ and $ anchor it. The pieces
 * between the stars are searched one after the other.
 */
static bool fits_anywhere(const char *pattern, const char *text)
{
	bool anchored = *pattern == '^';

	pattern += anchored;
	while (*pattern) {
		size_t piece = strcspn(pattern, "*");
		bool to_end = piece > 0 && !pattern[piece] && pattern[piece - 1] == '$';
		size_t length = strlen(text);

		piece -= to_end;
		if (to_end) {
			if (length < piece || (anchored && length != piece))
				return false;
			return begins_with(pattern, piece, text + length - piece);
		}
		while (!begins_with(pattern, piece, text))
			if (anchored || !*text++)
				return false;
		text += piece;
		pattern += piece;
		anchored = false;
		while (*pattern == '*')
			pattern++;
	}
	return true;
}

/* A path, or what follows one of its slashes. */
static bool fits_path(const char *pattern, const char *path)
{
	if (suppression_glob(pattern, path))
		return true;
	if (*pattern == '/' || *pattern == '*')
		return false;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (suppression_glob(pattern, slash + 1))
			return true;
	return false;
}

/* Patterns may leave out the parameters of a function. */
static bool fits_function(const char *pattern, const char *name)
{
	char bare[SUPPRESSION_LINE_MAX];
	size_t size = strcspn(name, "(");

	if (suppression_glob(pattern, name))
		return true;
	if (!name[size] || size == 0 || size >= sizeof(bare))
		return false;
	memcpy(bare, name, size);
	bare[size] = '\0';
	return suppression_glob(pattern, bare);
}

static bool fits_call(const struct suppression_frame *frame, const struct suppression_call *call)
{
	switch (frame->what) {
	case SUPPRESS_FUNCTION:
		return fits_function(frame->pattern, call->function);
	case SUPPRESS_MODULE:
		return fits_path(frame->pattern, call->module);
	case SUPPRESS_FILE:
		return *call->file && fits_path(frame->pattern, call->file) &&
		       (frame->from_line == 0 ||
			(call->line >= frame->from_line && call->line <= frame->to_line));
	case SUPPRESS_ANY_FRAMES:
		break;
	}
	return true;
}

/* Matches the frames of a rule against the innermost calls; outer calls may be anything. */
static bool fits_calls(const struct suppression_frame *frames, size_t frame_count,
		       const struct suppression_call *calls, size_t call_count)
{
	size_t frame = 0;
	size_t call = 0;
	size_t dots = SIZE_MAX; /* the frame after the last "..." */
	size_t from = 0;

	while (frame < frame_count) {
		if (frames[frame].what == SUPPRESS_ANY_FRAMES) {
			dots = ++frame;
			from = call;
		} else if (call < call_count && fits_call(&frames[frame], &calls[call])) {
			frame++;
			call++;
		} else if (dots != SIZE_MAX && from < call_count) {
			frame = dots;
			call = ++from;
		} else {
			return false;
		}
	}
	return true;
}

/* Whether the pattern of an innermost frame names an allocator. */
static bool names_an_allocator(const struct suppression_frame *frame)
{
	static const char *const names[] = {
		"malloc",
		"calloc",
		"realloc",
		"reallocarray",
		"memalign",
		"posix_memalign",
		"aligned_alloc",
		"valloc",
		"pvalloc",
		"operator new(unsigned long)",
		"operator new[](unsigned long)",
		"operator new(unsigned long, std::nothrow_t const&)",
		"operator new[](unsigned long, std::nothrow_t const&)",
		"operator new(unsigned long, std::align_val_t)",
		"operator new[](unsigned long, std::align_val_t)",
		"_Znwm",
		"_Znam",
	};

	for (size_t i = 0; frame->what == SUPPRESS_FUNCTION && i < ARRAY_SIZE(names); i++)
		if (fits_function(frame->pattern, names[i]))
			return true;
	return false;
}

/*
 * For other tools, the innermost frame is the allocator function. Here it is its caller, unless a
 * library allocates for it: both are tried.
 */
static bool fits_stack(const struct suppressions *list, const struct suppression *rule,
		       const struct suppression_subject *subject)
{
	const struct suppression_frame *frames = list->frames.items + rule->first_frame;
	size_t skipped = 0;

	do {
		const struct suppression_call *calls = subject->calls + skipped;
		size_t count = subject->call_count - skipped;

		if (fits_calls(frames, rule->frame_count, calls, count))
			return true;
		if (rule->frame_count > 0 && names_an_allocator(&frames[0]) &&
		    fits_calls(frames + 1, rule->frame_count - 1, calls, count))
			return true;
	} while (skipped < subject->call_count && subject->calls[skipped++].allocates);
	return false;
}

/* Any name in the stack. */
static bool fits_lsan(const char *pattern, const struct suppression_subject *subject)
{
	for (size_t i = 0; i < subject->call_count; i++) {
		const struct suppression_call *call = &subject->calls[i];

		if (fits_anywhere(pattern, call->function) ||
		    (*call->file && fits_anywhere(pattern, call->file)) ||
		    (*call->module && fits_anywhere(pattern, call->module)))
			return true;
	}
	return false;
}

static bool is_within(struct suppression_range range, uint64_t first, uint64_t last)
{
	return first >= range.from && last <= range.to;
}

bool suppression_fits(const struct suppressions *list, const struct suppression *rule,
		      const struct suppression_subject *subject)
{
	if (!(rule->kinds & subject->kind) ||
	    !is_within(rule->size_bytes, subject->size_bytes, subject->size_bytes) ||
	    !is_within(rule->time_ns, subject->first_ns, subject->last_ns) ||
	    (rule->thread && !suppression_glob(rule->thread, subject->thread)))
		return false;
	if (rule->place.pattern && (subject->place >= subject->call_count ||
				    !fits_call(&rule->place, &subject->calls[subject->place])))
		return false;
	if (rule->syntax == SUPPRESSION_LSAN)
		return fits_lsan(list->frames.items[rule->first_frame].pattern, subject);
	return fits_stack(list, rule, subject);
}

size_t suppressions_find(const struct suppressions *list, const struct suppression_subject *subject)
{
	for (size_t i = 0; i < list->rules.count; i++)
		if (suppression_fits(list, &list->rules.items[i], subject))
			return i;
	return SIZE_MAX;
}

/* Reads a whole file, up to the size that may be parsed. */
static int read_file(const char *path, struct bytes *ret, struct error *err)
{
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return error_errno(err, -errno, "cannot open suppressions %s", path);
	while (n > 0 && ret->size <= SUPPRESSION_FILE_MAX) {
		uint8_t *place = bytes_reserve(ret, 65536);

		if (!place)
			return error_set(err, -ENOMEM, "cannot read suppressions %s: out of memory",
					 path);
		n = read(fd, place, 65536);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			return error_errno(err, -errno, "cannot read suppressions %s", path);
		else
			ret->size += (size_t)n;
	}
	return 0;
}

int suppressions_read(struct suppressions *list, const char *path,
		      suppression_demangle_fn *demangle, struct error *err)
{
	struct bytes text = {0};
	int r = read_file(path, &text, err);

	if (r == 0)
		r = suppressions_parse(list, path, (const char *)text.data, text.size, demangle,
				       err);
	bytes_fini(&text);
	return r;
}
