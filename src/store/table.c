/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "store/store_ops.h"

const struct store_ops *const store_table[] = {&embedded_store_ops, &cluster_store_ops, NULL};
