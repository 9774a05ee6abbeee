/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page/shared/page_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/text.h"
#include "export/gzip.h"
#include "view/page/shared/page_style.h"

void page_file_begin(struct bytes *out, const char *title, const char *style, const char *body)
{
	bytes_printf(out,
		     "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width\">\n"
		     "<meta name=\"generator\" content=\"wick %s\">\n<title>",
		     WICK_VERSION);
	text_put_xml(out, title);
	bytes_printf(out, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n%s", page_css, style,
		     body);
}

static void put_base64(struct bytes *out, const uint8_t *data, size_t size)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *place = bytes_reserve(out, (size + 2) / 3 * 4);
	size_t i;

	for (i = 0; place && i < size; i += 3) {
		uint32_t word = (uint32_t)data[i] << 16 |
				(i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0) |
				(i + 2 < size ? (uint32_t)data[i + 2] : 0);

		*place++ = (uint8_t)letters[word >> 18];
		*place++ = (uint8_t)letters[word >> 12 & 63];
		*place++ = (uint8_t)(i + 1 < size ? letters[word >> 6 & 63] : '=');
		*place++ = (uint8_t)(i + 2 < size ? letters[word & 63] : '=');
	}
	if (place)
		out->size += (size + 2) / 3 * 4;
}

int page_file_pack(struct bytes *plain, struct bytes *out)
{
	struct gzip *gzip = gzip_new(out);
	int r = -ENOMEM;

	if (gzip && !plain->failed) {
		gzip_put(gzip, plain);
		gzip_finish(gzip);
		r = out->failed ? -ENOMEM : 0;
	}
	gzip_free(gzip);
	return r;
}

int page_file_put_packed(struct bytes *out, const char *id, struct bytes *plain)
{
	struct bytes packed = {0};
	int r = page_file_pack(plain, &packed);

	if (r == 0) {
		bytes_printf(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
		put_base64(out, packed.data, packed.size);
		bytes_printf(out, "</script>\n");
	}
	bytes_fini(&packed);
	return r;
}

void page_file_end(struct bytes *out, const char *script)
{
	bytes_printf(out, "<script>\n%s</script>\n</body>\n</html>\n", script);
}
