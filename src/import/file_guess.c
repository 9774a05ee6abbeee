/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/file_guess.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

#define HEAD_BYTES 4096u

#define WRITE_PROTO "convert it to pprof's own format: pprof -proto FILE > out.pb.gz"

#define PERF_REPORT                                                                                \
	"the output of perf report", "use perf.data itself, or the output of perf script"

/* Bytes at an offset, or anywhere in the first lines if it is -1. */
struct sign {
	const char *bytes;
	size_t size;
	int at;
	struct file_guess guess;
};

#define SIGN(at, text, ...)                                                                        \
	{                                                                                          \
		text, sizeof(text) - 1, at,                                                        \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* Order matters: specific patterns come before general ones. */
static const struct sign signs[] = {
	SIGN(0, "\177ELF", "a program, a library or a core dump (ELF)",
	     "record the program: wick record -- PROGRAM"),
	SIGN(0, "FLR\0", "a Java Flight Recorder (JFR) recording",
	     "convert it to folded stacks with jfr2flame or jfrconv from async-profiler"),
	SIGN(0, "JAVA PROFILE 1.0", "a Java heap dump (hprof)", NULL),
	SIGN(0, "--- heapz 1 ---\nformat = java", "a Java heap profile in an old format",
	     WRITE_PROTO),
	SIGN(0, "--- threadz", "a gperftools list of threads (threadz)", WRITE_PROTO),
	SIGN(0, "--- Thread ", "a gperftools list of threads (threadz)", WRITE_PROTO),
	SIGN(-1, " profile: total ", "a Go profile as text (debug=1)",
	     "fetch it without debug=1, in pprof's own format"),
	SIGN(0, "goroutine ", "the stacks of a Go program's goroutines", NULL),
	SIGN(-1, "\nevents: ", "a callgrind or cachegrind profile",
	     "view it with kcachegrind or callgrind_annotate"),
	SIGN(0, "desc: ", "a massif profile", "view it with ms_print"),
	SIGN(0, "heaptrack ", "a heaptrack recording", "view it with heaptrack_print"),
	SIGN(-1, "Full thread dump", "a Java thread dump (jstack)", NULL),
	SIGN(0, "gmon", "a gprof profile (gmon.out)", "view it with gprof"),
	SIGN(0, "PERFILE", "perf.data from a very old perf", "read it with perf script"),
	SIGN(-1, "\"traceEvents\"", "a Chrome trace (JSON)", NULL),
	SIGN(-1, "\"nodes\"", "a V8 CPU profile (JSON)",
	     "open it in Chrome's developer tools, or convert it to speedscope"),
	SIGN(-1, "# Overhead ", PERF_REPORT),
	SIGN(-1, "# Children ", PERF_REPORT),
	SIGN(-1, "# Event count (approx.): ", PERF_REPORT),
	SIGN(-1, "  [.] ", PERF_REPORT), /* without its header, as with -q */
	SIGN(-1, "<svg", "a picture (SVG)", "use the profile that it was made from"),
	SIGN(0, "<!DOCTYPE", "a page (HTML)", "use the profile that it was made from"),
	SIGN(0, "<html", "a page (HTML)", "use the profile that it was made from"),
	SIGN(0, "<?xml", "an XML file", NULL),
	SIGN(0, "PK\003\004", "a zip archive", "unpack it: unzip FILE"),
	SIGN(0, "BZh", "a file compressed with bzip2", "unpack it: bunzip2 FILE"),
	SIGN(0,
	     "\xfd"
	     "7zXZ",
	     "a file compressed with xz", "unpack it: unxz FILE"),
	SIGN(0, "\x28\xb5\x2f\xfd", "a file compressed with zstd", "unpack it: zstd -d FILE"),
	SIGN(257, "ustar", "a tar archive", "unpack it: tar -xf FILE"),
	SIGN(0, "\x89PNG", "a picture (PNG)", "use the profile that it was made from"),
	SIGN(0, "%PDF", "a PDF file", NULL),
	SIGN(0, "SQLite format 3", "a database (SQLite)", NULL),
	SIGN(0, "#!", "a script", "record it: wick record -- SCRIPT"),
};

static const struct file_guess json = {"JSON from no known profiler", NULL};
static const struct file_guess text = {
	"text that is not a profile",
	"stacks as text are lines like: app;main;parse 42; see: wick list imports"};

static bool fits(const struct sign *sign, const uint8_t *data, size_t size)
{
	size_t at = (size_t)sign->at;

	if (sign->at < 0)
		return memmem(data, size, sign->bytes, sign->size) != NULL;
	return size >= at + sign->size && memcmp(data + at, sign->bytes, sign->size) == 0;
}

/* Printable, in UTF-8 or another code. */
static bool is_text(const uint8_t *data, size_t size)
{
	static const uint8_t controls[] = {'\t', '\n', '\r', '\f', '\033'};

	for (size_t i = 0; i < size; i++)
		if (data[i] < 0x20 && !memchr(controls, data[i], sizeof(controls)))
			return false;
	return size > 0;
}

const struct file_guess *file_guess(const uint8_t *data, size_t size)
{
	if (size > HEAD_BYTES)
		size = HEAD_BYTES;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (fits(&signs[i], data, size))
			return &signs[i].guess;
	return NULL;
}

const struct file_guess *file_guess_text(const uint8_t *data, size_t size)
{
	if (!is_text(data, size < HEAD_BYTES ? size : HEAD_BYTES))
		return NULL;
	return data[0] == '{' || data[0] == '[' ? &json : &text;
}

int file_guess_refuse(const char *name, const struct file_guess *guess, struct error *err)
{
	(void)error_set(err, -EOPNOTSUPP, "%s looks like %s, which wick cannot read", name,
			guess->what);
	error_remedy(err, "%s",
		     guess->remedy ? guess->remedy : "see what can be read: wick list imports");
	return -EOPNOTSUPP;
}
