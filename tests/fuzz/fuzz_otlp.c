/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Profiles of OpenTelemetry, as JSON or protobuf by the first byte: JSON becomes protobuf, and that
 * a recording, which must be readable.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "import/import.h"
#include "import/source.h"
#include "load/load.h"
#include "model/profile.h"
#include "server/push/otlp_messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert(const void *data, size_t size)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct profile *profile;
	struct import_source source;
	struct error err = {0};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		abort();
	import_source_of_memory(&source, data, size);
	r = import_run_as("otlp", &source, fd, &err);
	import_source_fini(&source);
	if (r < 0 || lseek(fd, 0, SEEK_SET) != 0) {
		if (r < 0 && !err.text[0])
			abort(); /* it has to say why */
		(void)close(fd);
		return;
	}
	options.no_files = true;
	if (load_profile_fd(fd, "fuzz", &options, &profile, NULL) < 0)
		abort();
	profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes message = {0};
	struct error err = {0};
	json_t *root;

	if (size < 1)
		return 0;
	if ((data[0] & 1) == 0) {
		convert(data + 1, size - 1);
		return 0;
	}
	root = connect_read(otlp_profiles_request, data + 1, size - 1, true, &err);
	if (!root)
		return 0;
	connect_write(otlp_profiles_request, root, false, &message);
	json_decref(root);
	if (!message.failed)
		convert(message.data, message.size);
	bytes_fini(&message);
	return 0;
}
