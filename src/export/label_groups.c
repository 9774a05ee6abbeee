/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/label_groups.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "model/entity.h"
#include "model/profile.h"

/* Lengths keep values apart that contain anything. Label sets are sorted by key. */
static void put_key(const struct profile *profile, uint32_t set, bool (*counts)(const char *key),
		    struct bytes *out)
{
	struct label labels[LABELS_MAX];
	size_t n = label_sets_get(&profile->labels, &profile->strings, set, labels);

	bytes_put_u8(out, ':'); /* a group without labels has a text too */
	for (size_t i = 0; i < n; i++)
		if (counts(labels[i].key))
			bytes_printf(out, "%zu:%s=%zu:%s;", strlen(labels[i].key), labels[i].key,
				     strlen(labels[i].value), labels[i].value);
}

static int add_set(struct label_groups *groups, const struct profile *profile, uint32_t set,
		   bool (*counts)(const char *key))
{
	struct bytes key = {0};
	uint32_t id = ID_NONE;

	put_key(profile, set, counts, &key);
	if (!key.failed)
		id = strings_add_n(&groups->keys, (const char *)key.data, key.size);
	bytes_fini(&key);
	if (id == ID_NONE)
		return -ENOMEM;
	groups->of_sets.items[set] = id - 1; /* 0 is the empty text */
	return id - 1 < groups->sets.count ? 0 : vec_push(&groups->sets, set);
}

int label_groups_init(struct label_groups *groups, const struct profile *profile,
		      bool (*counts)(const char *key))
{
	int r;

	*groups = (struct label_groups){0};
	r = strings_init(&groups->keys);
	if (r == 0)
		r = vec_fill_ones(&groups->of_sets, profile->labels.sets.count);
	for (size_t i = 0; i < profile->entries.count && r == 0; i++) {
		uint32_t set = profile->entries.items[i].labels;

		if (groups->of_sets.items[set] == ID_NONE)
			r = add_set(groups, profile, set, counts);
	}
	return r;
}

void label_groups_fini(struct label_groups *groups)
{
	strings_fini(&groups->keys);
	vec_fini(&groups->of_sets);
	vec_fini(&groups->sets);
}
