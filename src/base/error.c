/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	err->remedy[0] = '\0';
	va_start(args, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, args); /* a cut message is fine */
	va_end(args);
	return code;
}

/* Whoever meets it: the limit is not what the caller is about. */
static void explain_descriptors(struct error *err)
{
	struct rlimit limit = {0, 0};

	(void)getrlimit(RLIMIT_NOFILE, &limit); /* cannot fail */
	error_remedy(err, "raise the limit of open files, which is %llu: ulimit -n 4096",
		     (unsigned long long)limit.rlim_cur);
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;
	size_t used;

	if (!err)
		return code;
	err->code = code;
	err->remedy[0] = '\0';
	va_start(args, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(-code));
	if (code == -EMFILE)
		explain_descriptors(err);
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
	(void)vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
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
