/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces flame_png.c if wick is built without cairo. */
#include <errno.h>

#include "base/error.h"
#include "view/flame/flame.h"

int flame_write_png(const struct profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err)
{
	(void)error_set(err, -EOPNOTSUPP, "cannot draw a PNG: this wick was built without cairo");
	error_remedy(err, "write an SVG, or build wick where libcairo2-dev is installed");
	return -EOPNOTSUPP;
}
