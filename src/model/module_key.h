/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_MODULE_KEY_H
#define WICK_MODEL_MODULE_KEY_H

/*
 * module_key: modules of a profile by path and build id.
 *
 * A profile knows the build id of a path. During a deployment two files have the same path one
 * after the other; to keep them apart, the second one gets a text of its own in place of the path,
 * which leads back to the path. Only who asks for such keys sees them.
 */

#include <stdint.h>

struct build_id;
struct profile;

/*
 * The string id for a module, which is noted with its build id: that of its path, unless another
 * file has it. Without a build id (size 0) nothing is noted. ID_NONE if out of memory.
 */
uint32_t module_key(struct profile *profile, const char *path, const struct build_id *build_id);

#endif
