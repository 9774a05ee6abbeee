/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/ruby/layout.h"

#include <stddef.h>

#include "base/vec.h"

static const struct ruby_layout layouts[] = {
	{
		.version = 0x0301,
		.main_thread = 40,
		.thread_vm = 32,
		.thread_context = 40,
		.thread_id = 80,
		.stack = 0,
		.stack_words = 8,
		.frame = 16,
		.frame_bytes = 64,
		.instruction = 0,
		.iseq = 16,
		.environment = 32,
		.body = 16,
		.code_words = 4,
		.code = 8,
		.path = 64,
		.label = 80,
		.first_line = 88,
		.lines = 120,
		.positions = 128,
		.line_count = 136,
		.ranks = 144,
		.body_bytes = 152,
		.line_bytes = 12,
	},
};

const struct ruby_layout *ruby_layout_find(uint32_t version)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}
