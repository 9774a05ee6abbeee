/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_LEAVING_H
#define WICK_TESTS_LEAVING_H

/* leaving: an allocator each of whose functions can be left: by a hook that does not return. */

#ifdef __cplusplus
extern "C" {
#endif

/* Called at the beginning of each function, by the thread that set it; NULL: nobody is. */
extern __thread void (*leaving_hook)(void);

#ifdef __cplusplus
}
#endif

#endif
