/* SPDX-License-Identifier: BSD-2-Clause */
#include "libwick/output_text.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "libwick/public_error.h"

int output_to_file(const struct bytes *text, const char *path, struct error *err)
{
	int r = need(path, "the path", err);

	return r < 0 ? r : outfile_write(path, NULL, text->data, text->size, err);
}

int output_to_memory(struct bytes *text, char **ret_text, size_t *ret_size, struct error *err)
{
	size_t size = text->size;
	int r = need(ret_text, "ret_text", err);

	if (r < 0)
		return r;
	bytes_put_u8(text, 0);
	if (text->failed)
		return error_set(err, -ENOMEM, "no memory for the text");
	*ret_text = (char *)text->data;
	if (ret_size)
		*ret_size = size;
	*text = (struct bytes){0};
	return 0;
}
