/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "proc/process_info.h"

/* A process and its parent. */
struct link {
	pid_t pid;
	pid_t parent;
};

struct links {
	VEC(struct link) list;
};

/* Whether a process is this one, or the one that started it for another user. */
static bool is_ours(const struct process_info *info)
{
	static const char *const starters[] = {"sudo", "doas", "su"};

	if (info->pid == getpid())
		return true;
	for (size_t i = 0; i < sizeof(starters) / sizeof(*starters); i++)
		if (info->pid == getppid() && strcmp(info->comm, starters[i]) == 0)
			return true;
	return false;
}

/* All running processes; not those that have ended and wait for their parent. */
static int read_links(struct links *links, struct error *err)
{
	struct pid_list all = {0};
	int r = process_list(&all, err);

	for (size_t i = 0; i < all.count && r == 0; i++) {
		struct process_info info;

		if (process_info_read(all.items[i], &info, NULL) < 0 || info.state == 'Z' ||
		    is_ours(&info))
			continue; /* it has ended meanwhile, or is irrelevant */
		if (vec_push(&links->list, ((struct link){info.pid, info.parent_pid})) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	vec_fini(&all);
	return r;
}

/* Appends the children of a process that are not known yet. */
static int add_children(const struct links *links, pid_t parent, const struct pid_list *roots,
			struct pid_list *ret)
{
	for (size_t i = 0; i < links->list.count; i++) {
		const struct link *link = &links->list.items[i];

		if (link->parent == parent && !pid_list_has(roots, link->pid) &&
		    !pid_list_has(ret, link->pid) && vec_push(ret, link->pid) < 0)
			return -ENOMEM;
	}
	return 0;
}

int process_tree_below(const struct pid_list *roots, struct pid_list *ret, struct error *err)
{
	struct links links = {0};
	int r = read_links(&links, err);

	for (size_t i = 0; i < roots->count && r == 0; i++)
		r = add_children(&links, roots->items[i], roots, ret);
	/* The list grows during the loop: children of children. */
	for (size_t i = 0; i < ret->count && r == 0; i++)
		r = add_children(&links, ret->items[i], roots, ret);
	vec_fini(&links.list);
	return r == -ENOMEM ? error_set(err, r, "out of memory") : r;
}

/* The kernel keeps 15 bytes of a name; the file's is complete. */
static bool is_named(const struct process_info *info, const char *name)
{
	const char *slash = strrchr(info->executable, '/');

	return strcmp(info->comm, name) == 0 || (slash && strcmp(slash + 1, name) == 0);
}

int process_tree_named(const char *name, struct pid_list *ret, struct error *err)
{
	struct pid_list all = {0};
	int r = process_list(&all, err);

	for (size_t i = 0; i < all.count && r == 0; i++) {
		struct process_info info;

		if (pid_list_has(ret, all.items[i]) ||
		    process_info_read(all.items[i], &info, NULL) < 0 || info.state == 'Z' ||
		    is_ours(&info) || !is_named(&info, name))
			continue;
		if (vec_push(ret, info.pid) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	vec_fini(&all);
	return r;
}

uint64_t process_tree_run_ns(pid_t pid)
{
	struct pid_list threads = {0};
	uint64_t sum = 0;

	if (process_list_threads(pid, &threads, NULL) < 0)
		threads.count = 0; /* it has ended */
	for (size_t i = 0; i < threads.count; i++) {
		char name[64];
		char path[96];
		unsigned long long ns;

		(void)snprintf(name, sizeof(name), "task/%d/schedstat", (int)threads.items[i]);
		process_path(path, sizeof(path), pid, name);
		SCOPED(file) FILE *file = fopen(path, "re");
		if (file && fscanf(file, "%llu", &ns) == 1)
			sum += ns;
	}
	vec_fini(&threads);
	return sum;
}
