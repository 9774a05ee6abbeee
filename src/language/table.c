/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "language/language.h"
#include "language/python/python.h"
#include "language/ruby/ruby.h"

const struct language_ops *const language_table[] = {
	&python_language,
	&ruby_language,
	NULL,
};
