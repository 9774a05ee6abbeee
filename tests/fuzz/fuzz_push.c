/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A push of Pyroscope's clients, as JSON or protobuf by its first byte, down to the profiles in it,
 * which are decompressed within a limit and made recordings.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "import/import.h"
#include "import/inflate.h"
#include "import/source.h"
#include "net/content_coding.h"
#include "server/push/push_message.h"
#include "store/store.h"

#define LIMIT_BYTES (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *self, const struct push_sample *sample, struct error *err)
{
	struct bytes plain = {0};
	struct import_source source;
	size_t length = strlen(sample->id);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		abort();
	for (size_t i = 0; i < sample->label_count; i++)
		length += strlen(sample->labels[i].name) + strlen(sample->labels[i].value);
	*(size_t *)self += length;
	r = content_decode(inflate_is_gzip(sample->data, sample->size) ? "gzip" : NULL,
			   sample->data, sample->size, LIMIT_BYTES, &plain, err);
	if (plain.size > LIMIT_BYTES)
		abort();
	if (r == 0) {
		import_source_of_memory(&source, plain.data, plain.size);
		(void)import_run_as("pprof", &source, fd, err); /* what it says is not our matter */
		import_source_fini(&source);
	}
	bytes_fini(&plain);
	(void)close(fd);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	size_t length = 0;

	if (size < 1)
		return 0;
	if (push_message_read(data + 1, size - 1, data[0] & 1, take, &length, &err) < 0 &&
	    !err.text[0])
		abort(); /* it has to say why */
	return 0;
}
