/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "language/language.h"
#include "language/python/python.h"

const struct language_ops *const language_table[] = {
	&python_language,
	NULL,
};
