/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/file_guess.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

#define HEAD_BYTES 4096u

#define WRITE_PROTO "write it as pprof's own format: pprof -proto FILE > out.pb.gz"

#define PERF_REPORT "the text of perf report", "use perf.data itself, or the text of perf script"

/* Bytes that stand at an offset, or anywhere in the first lines when it is -1. */
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

/* In this order: special ones before those that would fit as well. */
static const struct sign signs[] = {
	SIGN(0, "\177ELF", "a program, a library or a core dump (ELF)",
	     "record the program: wick record -- PROGRAM"),
	SIGN(0, "FLR\0", "a recording of Java Flight Recorder (JFR)",
	     "convert it to folded stacks with jfr2flame or jfrconv of async-profiler"),
	SIGN(0, "JAVA PROFILE 1.0", "a heap dump of Java (hprof)", NULL),
	SIGN(0, "--- heapz 1 ---\nformat = java", "a heap profile of Java in an old form",
	     WRITE_PROTO),
	SIGN(0, "--- threadz", "a list of threads of gperftools (threadz)", WRITE_PROTO),
	SIGN(0, "--- Thread ", "a list of threads of gperftools (threadz)", WRITE_PROTO),
	SIGN(-1, " profile: total ", "a profile of Go as text (debug=1)",
	     "fetch it without debug=1, as pprof's own format"),
	SIGN(0, "goroutine ", "the stacks of a Go program's goroutines", NULL),
	SIGN(-1, "\nevents: ", "a profile of callgrind or cachegrind",
	     "look at it with kcachegrind or callgrind_annotate"),
	SIGN(0, "desc: ", "a profile of massif", "look at it with ms_print"),
	SIGN(0, "heaptrack ", "a recording of heaptrack", "look at it with heaptrack_print"),
	SIGN(-1, "Full thread dump", "a thread dump of Java (jstack)", NULL),
	SIGN(0, "gmon", "a profile of gprof (gmon.out)", "look at it with gprof"),
	SIGN(0, "PERFILE", "perf.data of a very old perf", "read it with perf script"),
	SIGN(-1, "\"traceEvents\"", "a trace of Chrome (JSON)", NULL),
	SIGN(-1, "\"nodes\"", "a CPU profile of V8 (JSON)",
	     "open it in Chrome's developer tools, or write it as speedscope"),
	SIGN(-1, "# Overhead ", PERF_REPORT),
	SIGN(-1, "# Children ", PERF_REPORT),
	SIGN(-1, "# Event count (approx.): ", PERF_REPORT),
	SIGN(-1, "  [.] ", PERF_REPORT), /* without its head, as of -q */
	SIGN(-1, "<svg", "a picture (SVG)", "name the profile that it was made of"),
	SIGN(0, "<!DOCTYPE", "a page (HTML)", "name the profile that it was made of"),
	SIGN(0, "<html", "a page (HTML)", "name the profile that it was made of"),
	SIGN(0, "<?xml", "an XML file", NULL),
	SIGN(0, "PK\003\004", "a zip archive", "unpack it: unzip FILE"),
	SIGN(0, "BZh", "a file compressed with bzip2", "unpack it: bunzip2 FILE"),
	SIGN(0,
	     "\xfd"
	     "7zXZ",
	     "a file compressed with xz", "unpack it: unxz FILE"),
	SIGN(0, "\x28\xb5\x2f\xfd", "a file compressed with zstd", "unpack it: zstd -d FILE"),
	SIGN(257, "ustar", "a tar archive", "unpack it: tar -xf FILE"),
	SIGN(0, "\x89PNG", "a picture (PNG)", "name the profile that it was made of"),
	SIGN(0, "%PDF", "a PDF file", NULL),
	SIGN(0, "SQLite format 3", "a database (SQLite)", NULL),
	SIGN(0, "#!", "a script", "record it: wick record -- SCRIPT"),
};

static const struct file_guess json = {"JSON of no profiler that is known", NULL};
static const struct file_guess text = {
	"text that is no profile",
	"stacks as text are lines such as: app;main;parse 42; see: wick list imports"};

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
	(void)error_set(err, -EOPNOTSUPP, "%s looks like %s, which is not read", name, guess->what);
	error_remedy(err, "%s",
		     guess->remedy ? guess->remedy : "see what can be read: wick list imports");
	return -EOPNOTSUPP;
}
