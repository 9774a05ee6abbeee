/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/plugins.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <wick/plugin.h>

#include "api/plugin_host.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "export/export.h"
#include "import/import.h"

/* Each entry is memory of its own: the lists hold pointers, and grow. */
struct plugins {
	VEC(void *) objects; /* of dlopen() */
	VEC(struct exporter_ops *) exporter_memory;
	VEC(struct importer_ops *) importer_memory;
	VEC(const struct exporter_ops *) exporters; /* NULL last */
	VEC(const struct importer_ops *) importers;
	plugin_warning_fn *warn;
	void *self;
};

static void warn(struct plugins *plugins, const char *path, const struct error *err)
{
	struct error line = {0};

	(void)error_set(&line, err->code, "plug-in %s is left out: %s", path, err->text);
	if (plugins->warn)
		plugins->warn(plugins->self, line.text);
}

/* Whether somebody else than root and this user can change a file or folder. */
static int check_owner(const char *path, struct error *err)
{
	struct stat status;
	mode_t others = geteuid() == 0 ? S_IWGRP | S_IWOTH : S_IWOTH;

	if (stat(path, &status) < 0)
		return error_errno(err, -errno, "cannot look at %s", path);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return error_set(err, -EPERM, "%s belongs to another user (uid %u)", path,
				 status.st_uid);
	/* In a sticky folder nobody can replace what is not his own. */
	if ((status.st_mode & others) && !(S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX)))
		return error_set(err, -EPERM, "others can write to %s", path);
	return 0;
}

/* The file, its folder and all above it. A path without links is expected. */
static int check_path(const char *path, struct error *err)
{
	SCOPED(mem) char *part = strdup(path);
	char *slash;
	struct stat status;
	int r;

	if (!part)
		return error_set(err, -ENOMEM, "out of memory");
	r = check_owner(part, err);
	slash = strrchr(part, '/');
	if (r == 0 && slash && slash != part) {
		*slash = '\0'; /* a sticky bit does not help where the file itself lies */
		if (stat(part, &status) == 0 && (status.st_mode & S_IWOTH))
			r = error_set(err, -EPERM, "others can write to %s", part);
		*slash = '/';
	}
	while (r == 0 && (slash = strrchr(part, '/')) && slash != part) {
		*slash = '\0';
		r = check_owner(part, err);
	}
	return r == 0 ? check_owner("/", err) : r;
}

static bool is_name(const char *name)
{
	return name && *name &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0' &&
	       strlen(name) < 64;
}

static int add_exporter(struct plugins *plugins, const struct wick_plugin_exporter *given,
			const char *plugin, struct error *err)
{
	struct exporter_ops *ops;

	if (!is_name(given->name) || !given->summary || !given->extension || !given->write)
		return error_set(err, -EINVAL,
				 "an exporter lacks name, summary, extension or write");
	if (plugins_find_exporter(plugins, given->name))
		return error_set(err, -EEXIST, "there is a format %s already", given->name);
	ops = malloc(sizeof(*ops));
	if (!ops || vec_push(&plugins->exporter_memory, ops) < 0) {
		free(ops);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*ops = plugin_exporter_ops(given, plugin);
	plugins->exporters.items[plugins->exporters.count - 1] = ops;
	return vec_push(&plugins->exporters, NULL) < 0 ? error_set(err, -ENOMEM, "out of memory")
						       : 0;
}

static int add_importer(struct plugins *plugins, const struct wick_plugin_importer *given,
			const char *plugin, struct error *err)
{
	struct importer_ops *ops;

	if (!is_name(given->name) || !given->summary || !given->recognise || !given->read)
		return error_set(err, -EINVAL,
				 "an importer lacks name, summary, recognise or read");
	ops = malloc(sizeof(*ops));
	if (!ops || vec_push(&plugins->importer_memory, ops) < 0) {
		free(ops);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*ops = plugin_importer_ops(given, plugin);
	plugins->importers.items[plugins->importers.count - 1] = ops;
	return vec_push(&plugins->importers, NULL) < 0 ? error_set(err, -ENOMEM, "out of memory")
						       : 0;
}

static int add_plugin(struct plugins *plugins, const struct wick_plugin *plugin, struct error *err)
{
	size_t i;
	int r = 0;

	if (plugin->abi != WICK_PLUGIN_ABI)
		return error_set(err, -ENOEXEC,
				 "it is made for plug-in ABI %u, and this wick has %u", plugin->abi,
				 WICK_PLUGIN_ABI);
	if (plugin->size < sizeof(*plugin) || !is_name(plugin->name))
		return error_set(err, -EINVAL, "it has no size or no name");
	for (i = 0; r == 0 && plugin->exporters && plugin->exporters[i]; i++)
		r = add_exporter(plugins, plugin->exporters[i], plugin->name, err);
	for (i = 0; r == 0 && plugin->importers && plugin->importers[i]; i++)
		r = add_importer(plugins, plugin->importers[i], plugin->name, err);
	return r;
}

/* All of it, or nothing. */
static int add_whole(struct plugins *plugins, const struct wick_plugin *plugin, struct error *err)
{
	size_t exporter_count = plugins->exporters.count;
	size_t importer_count = plugins->importers.count;
	int r = add_plugin(plugins, plugin, err);

	if (r < 0) {
		plugins->exporters.count = exporter_count;
		plugins->exporters.items[exporter_count - 1] = NULL;
		plugins->importers.count = importer_count;
		plugins->importers.items[importer_count - 1] = NULL;
	}
	return r;
}

static int load_object(struct plugins *plugins, const char *path, struct error *err)
{
	SCOPED(mem) char *real = realpath(path, NULL);
	const struct wick_plugin *plugin;
	void *object;
	int r;

	if (!real)
		return error_errno(err, -errno, "cannot find it");
	r = check_path(real, err);
	if (r < 0)
		return r;
	object = dlopen(real, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return error_set(err, -ENOEXEC, "%s", dlerror());
	/* It stays to the end, also one that is left out. */
	if (vec_push(&plugins->objects, object) < 0) {
		(void)dlclose(object); /* it was not used */
		return error_set(err, -ENOMEM, "out of memory");
	}
	plugin = dlsym(object, "wick_plugin");
	if (!plugin)
		return error_set(err, -ENOEXEC, "it has no symbol wick_plugin");
	return add_whole(plugins, plugin, err);
}

static void load_one(struct plugins *plugins, const char *path)
{
	struct error err = {0};

	if (load_object(plugins, path, &err) < 0)
		warn(plugins, path, &err);
	else
		log_info("plug-in %s is loaded", path);
}

static int is_object(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 3 && strcmp(entry->d_name + n - 3, ".so") == 0;
}

static void load_folder(struct plugins *plugins, const char *folder)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int count = scandir(folder, &entries, is_object, alphasort);
	int i;

	for (i = 0; i < count; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);

		if (n > 0 && (size_t)n < sizeof(path))
			load_one(plugins, path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* Folders that are not there are passed over, as in PATH. */
static void load_paths(struct plugins *plugins, char *paths)
{
	char *rest = paths;
	char *path;

	while ((path = strsep(&rest, ":"))) {
		struct stat status;

		if (!*path)
			continue;
		if (stat(path, &status) < 0) {
			log_debug("plug-ins: %s is not there", path);
			continue;
		}
		if (S_ISDIR(status.st_mode))
			load_folder(plugins, path);
		else
			load_one(plugins, path);
	}
}

struct plugins *plugins_load(const char *paths, plugin_warning_fn *warning, void *self)
{
	struct plugins *plugins = calloc(1, sizeof(*plugins));
	SCOPED(mem) char *copy = strdup(paths ? paths : "");

	if (!plugins || !copy || vec_push(&plugins->exporters, NULL) < 0 ||
	    vec_push(&plugins->importers, NULL) < 0) {
		plugins_free(plugins);
		return NULL;
	}
	plugins->warn = warning;
	plugins->self = self;
	if (*copy && getauxval(AT_SECURE)) {
		if (warning)
			warning(self,
				"WICK_PLUGINS is not heeded: wick runs with raised privileges");
		return plugins;
	}
	load_paths(plugins, copy);
	return plugins;
}

void plugins_free(struct plugins *plugins)
{
	size_t i;

	if (!plugins)
		return;
	for (i = 0; i < plugins->exporter_memory.count; i++)
		free(plugins->exporter_memory.items[i]);
	for (i = 0; i < plugins->importer_memory.count; i++)
		free(plugins->importer_memory.items[i]);
	for (i = 0; i < plugins->objects.count; i++)
		(void)dlclose(plugins->objects.items[i]); /* nothing of it is used any more */
	vec_fini(&plugins->objects);
	vec_fini(&plugins->exporter_memory);
	vec_fini(&plugins->importer_memory);
	vec_fini(&plugins->exporters);
	vec_fini(&plugins->importers);
	free(plugins);
}

const struct exporter_ops *const *plugins_exporters(const struct plugins *plugins)
{
	static const struct exporter_ops *const none[] = {NULL};

	return plugins ? plugins->exporters.items : none;
}

const struct importer_ops *const *plugins_importers(const struct plugins *plugins)
{
	static const struct importer_ops *const none[] = {NULL};

	return plugins ? plugins->importers.items : none;
}

const struct exporter_ops *plugins_find_exporter(const struct plugins *plugins, const char *name)
{
	const struct exporter_ops *const *at;

	for (at = plugins_exporters(plugins); *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return exporter_find(name);
}
