/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/limit_remedy.h"

/* What a failure is about, as far as it decides the remedy. */
enum about {
	ABOUT_ANYTHING, /* memory and descriptors run out regardless of what was done */
	ABOUT_SYSTEM,
	ABOUT_FILE,
};

/* Remedies for failures that no resource limit of this process caused. */
static const struct {
	int code; /* 0: any other */
	enum about about;
	const char *remedy;
} remedies[] = {
	{ENOMEM, ABOUT_ANYTHING,
	 "stop other programs, or raise the memory limit of this container or service"},
	{ENFILE, ABOUT_ANYTHING,
	 "raise the system-wide limit on open files: sudo sysctl fs.file-max=1048576"},
	{EACCES, ABOUT_SYSTEM, "run as root, or see what is allowed here: wick doctor"},
	{EPERM, ABOUT_SYSTEM, "run as root, or see what is allowed here: wick doctor"},
	{EAGAIN, ABOUT_SYSTEM, "stop other programs, or raise the limits: see ulimit -a"},
	{0, ABOUT_SYSTEM,
	 "see what works here: wick doctor; if it finds no problem, report this error"},
	{ENOENT, ABOUT_FILE, "check the spelling of the path, and the directory it is relative to"},
	{ENOTDIR, ABOUT_FILE, "check the path: a part of it is not a directory"},
	{EISDIR, ABOUT_FILE, "name a file, not a directory"},
	{EACCES, ABOUT_FILE, "give this user access (ls -ld shows the owner), or run as root"},
	{EPERM, ABOUT_FILE, "give this user access (ls -ld shows the owner), or run as root"},
	{ELOOP, ABOUT_FILE, "check the path: its symbolic links form a loop"},
	{ENAMETOOLONG, ABOUT_FILE, "choose a shorter name"},
	{EROFS, ABOUT_FILE, "choose another place: this file system is read-only"},
	{ENOSPC, ABOUT_FILE, "free some space there, or choose another place"},
	{EDQUOT, ABOUT_FILE, "delete some of your files there, or choose another place"},
	{EFBIG, ABOUT_FILE,
	 "choose another place: its file system does not allow files that large"},
	{ETXTBSY, ABOUT_FILE, "choose another name: this program is running"},
	{EIO, ABOUT_FILE, "see what the kernel reports about the disk: sudo dmesg"},
	{0, ABOUT_FILE, "see what it is with ls -ld; choose another if it is not a regular file"},
};

/* Resource limits of a process. */
static const struct {
	int code;
	enum about about;
	int resource;
	unsigned int unit; /* in which it is shown */
	const char *limit;
	rlim_t wanted;
} limits[] = {
	{EMFILE, ABOUT_ANYTHING, RLIMIT_NOFILE, 1, "on open files", LIMIT_MANY_FILES},
	{ENOMEM, ABOUT_ANYTHING, RLIMIT_AS, 1024, "on memory (KB)", RLIM_INFINITY},
	{ENOMEM, ABOUT_ANYTHING, RLIMIT_DATA, 1024, "on memory (KB)", RLIM_INFINITY},
	{EFBIG, ABOUT_FILE, RLIMIT_FSIZE, 1024, "on file sizes (KB)", RLIM_INFINITY},
};

static bool concerns(enum about entry, enum about failure)
{
	return entry == ABOUT_ANYTHING || entry == failure;
}

static void advise_by_code(struct error *err, enum about about)
{
	err->remedy[0] = '\0';
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit limit = {0, 0};
		char command[sizeof(err->remedy) - 100];

		if (-err->code != limits[i].code || !concerns(limits[i].about, about))
			continue;
		(void)getrlimit((__rlimit_resource_t)limits[i].resource, &limit); /* cannot fail */
		if (!limit_remedy(limits[i].resource, limits[i].wanted, command, sizeof(command)))
			continue;
		error_remedy(err, "raise the limit %s, now %llu: %s", limits[i].limit,
			     (unsigned long long)limit.rlim_cur / limits[i].unit, command);
		return;
	}
	for (size_t i = 0; i < sizeof(remedies) / sizeof(*remedies); i++) {
		if ((-err->code != remedies[i].code && remedies[i].code != 0) ||
		    !concerns(remedies[i].about, about))
			continue;
		error_remedy(err, "%s", remedies[i].remedy);
		return;
	}
}

__attribute__((format(printf, 2, 0))) static size_t put_text(struct error *err, const char *format,
							     va_list args)
{
	(void)vsnprintf(err->text, sizeof(err->text), format, args); /* may be truncated */
	return strlen(err->text);
}

/* Texts of the C library begin with a capital; ours do not. */
static void put_reason(struct error *err, size_t used)
{
	size_t at = used + 2;

	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(-err->code));
	if (at + 1 < sizeof(err->text) && err->text[used] &&
	    islower((unsigned char)err->text[at + 1]))
		err->text[at] = (char)tolower((unsigned char)err->text[at]);
}

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	(void)put_text(err, format, args);
	va_end(args);
	advise_by_code(err, ABOUT_ANYTHING);
	return code;
}

static __attribute__((format(printf, 4, 0))) int put_system(struct error *err, int code,
							    enum about about, const char *format,
							    va_list args)
{
	if (!err)
		return code;
	err->code = code;
	put_reason(err, put_text(err, format, args));
	advise_by_code(err, about);
	return code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)put_system(err, code, ABOUT_SYSTEM, format, args);
	va_end(args);
	return code;
}

int error_file(struct error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)put_system(err, code, ABOUT_FILE, format, args);
	va_end(args);
	return code;
}

int error_prefix(struct error *err, int code, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return code;
	err->code = code;
	memcpy(old, err->text, sizeof(old));
	va_start(args, format);
	used = put_text(err, format, args);
	va_end(args);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	return code;
}

void error_remedy(struct error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	(void)vsnprintf(err->remedy, sizeof(err->remedy), format, args);
	va_end(args);
}

int error_advise(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err || err->remedy[0])
		return code;
	va_start(args, format);
	(void)vsnprintf(err->remedy, sizeof(err->remedy), format, args);
	va_end(args);
	return code;
}
