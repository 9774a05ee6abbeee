/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_GAUGES_H
#define WICK_EXPORT_GAUGES_H

/* gauges: levels that programs reported, as JSON shared by formats and views. */

struct json;
struct profile;
struct profile_gauge;

/* Appends name, unit, process, pid, times, last, lowest, highest and mean to an object. */
void gauge_put_json(const struct profile *profile, const struct profile_gauge *gauge,
		    struct json *json);

/* Appends the key "gauges" with an object for each; nothing if there are none. */
void gauges_put_json(const struct profile *profile, struct json *json);

#endif
