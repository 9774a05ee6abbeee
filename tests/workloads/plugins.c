/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * plugins ROUNDS: loads plugins that are of one size, so very likely at the same address, one
 * after the other. Each loses a block, and is unloaded at once.
 */

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGINS 4

static void run_plugin(const char *folder, int number)
{
	char path[PATH_MAX + 32];
	char name[32];
	void *plugin;
	void (*leak)(void);

	(void)snprintf(path, sizeof(path), "%s/leaky_plugin_%d.so", folder, number);
	(void)snprintf(name, sizeof(name), "leak_%d", number);
	plugin = dlopen(path, RTLD_NOW);
	if (!plugin)
		abort();
	leak = (void (*)(void))(uintptr_t)dlsym(plugin, name);
	leak();
	(void)dlclose(plugin);
}

int main(int argc, char **argv)
{
	static char folder[PATH_MAX];
	char *slash = strrchr(argv[0], '/');
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;

	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - argv[0]) : 1,
		       slash ? argv[0] : ".");
	for (int i = 0; i < rounds * PLUGINS; i++)
		run_plugin(folder, i % PLUGINS);
	return 0;
}
