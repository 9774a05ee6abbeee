/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "net/http_server.h"

unsigned int http_status_of(int code)
{
	switch (-code) {
	case ENOENT:
		return 404;
	case EACCES:
	case EPERM:
		return 403;
	case EFBIG:
	case E2BIG:
	case EMSGSIZE:
		return 413;
	case EOPNOTSUPP:
		return 415;
	case EINVAL:
	case EBADMSG:
	case ENODATA:
	case ERANGE:
	case EILSEQ:
		return 400;
	case ENOSPC:
	case EDQUOT:
		return 507;
	case EAGAIN:
	case EBUSY:
	case EHOSTUNREACH: /* a shard of the store */
	case ENOMEM:
		return 503;
	default:
		return 500;
	}
}

static void write_refusal(struct http_response *response, unsigned int status, const char *text,
			  const char *remedy)
{
	struct json json;

	bytes_clear(&response->body);
	response->status = status;
	response->type = NULL;
	response->disposition = NULL;
	response->policy = NULL;
	response->hash = NULL;
	if (status == 503 || status == 507)
		response->retry_after_s = status == 503 ? 2 : 30;
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_string(&json, "error", text);
	if (*remedy)
		json_string(&json, "remedy", remedy);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

void http_refuse(struct http_response *response, unsigned int status, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments); /* a cut text is fine */
	va_end(arguments);
	write_refusal(response, status, text, "");
}

void http_refuse_error(struct http_response *response, unsigned int status, const struct error *err)
{
	write_refusal(response, status ? status : http_status_of(err->code), err->text,
		      err->remedy);
}
