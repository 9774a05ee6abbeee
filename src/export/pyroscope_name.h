/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_PYROSCOPE_NAME_H
#define WICK_EXPORT_PYROSCOPE_NAME_H

/* pyroscope_name: what Pyroscope calls the profile that has a type of values: its __name__. */

/* Returns type itself if Pyroscope has no name for it. */
const char *pyroscope_name(const char *type);

#endif
