/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugin/plugins.h"

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

#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "export/export.h"
#include "import/import.h"
#include "plugin/plugin_lists.h"
#include "proc/thread_status.h"
#include "symbol/name_source.h"
#include "view/report/analyser.h"
#include "view/view.h"

struct plugins {
	VEC(void *) objects; /* of dlopen() */
	struct plugin_lists lists;
	plugin_warning_fn *warn;
	void *self;
};

static void warn(struct plugins *plugins, const char *path, const struct error *err)
{
	struct error line = {0};

	(void)error_set(&line, err->code, "plug-in %s not loaded: %s", path, err->text);
	error_remedy(&line, "%s", err->remedy);
	(void)error_advise(&line, err->code, "remove it from WICK_PLUGINS, or ask its author");
	if (plugins->warn)
		plugins->warn(plugins->self, &line);
}

/* A folder may be meant to be writable by all, such as /tmp: do not advise changing it. */
static int refuse_open(const char *path, bool is_folder, struct error *err)
{
	int r = error_set(err, -EPERM, "others can write to %s", path);

	if (is_folder)
		return error_advise(err, r, "put it in a directory that only you can write to");
	return error_advise(err, r, "remove the permission: chmod go-w %s", path);
}

/* Fails if users other than root and this one can change a file or folder. */
static int check_owner(const char *path, struct error *err)
{
	struct stat status;
	mode_t others = geteuid() == 0 ? S_IWGRP | S_IWOTH : S_IWOTH;

	if (stat(path, &status) < 0)
		return error_file(err, -errno, "cannot check %s", path);
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return error_advise(err,
				    error_set(err, -EPERM, "%s belongs to another user (uid %u)",
					      path, status.st_uid),
				    "copy it to a directory of your own");
	/* In a sticky folder users can replace only their own files. */
	if ((status.st_mode & others) && !(S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX)))
		return refuse_open(path, S_ISDIR(status.st_mode), err);
	return 0;
}

/* Checks the file, its folder and all parent folders. The path must be free of symbolic links. */
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
		*slash = '\0'; /* for the folder of the file itself, a sticky bit is not enough */
		if (stat(part, &status) == 0 && (status.st_mode & S_IWOTH))
			r = refuse_open(part, true, err);
		*slash = '/';
	}
	while (r == 0 && (slash = strrchr(part, '/')) && slash != part) {
		*slash = '\0';
		r = check_owner(part, err);
	}
	return r == 0 ? check_owner("/", err) : r;
}

static int load_object(struct plugins *plugins, const char *path, struct error *err)
{
	SCOPED(mem) char *real = realpath(path, NULL);
	const struct wick_plugin *plugin;
	void *object;
	int r;

	if (!real)
		return error_file(err, -errno, "cannot find it");
	r = check_path(real, err);
	if (r < 0)
		return r;
	object = dlopen(real, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return error_set(err, -ENOEXEC, "%s", dlerror());
	/* It stays loaded until the end, even if it is rejected. */
	if (vec_push(&plugins->objects, object) < 0) {
		(void)dlclose(object); /* it was not used */
		return error_set(err, -ENOMEM, "out of memory");
	}
	plugin = dlsym(object, "wick_plugin");
	if (!plugin)
		return error_set(err, -ENOEXEC, "it has no symbol wick_plugin");
	return plugin_lists_add(&plugins->lists, plugin, err);
}

static void load_one(struct plugins *plugins, const char *path)
{
	struct error err = {0};

	if (load_object(plugins, path, &err) < 0)
		warn(plugins, path, &err);
	else
		log_info("loaded plug-in %s", path);
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
	struct error err = {0};
	int i;

	if (count < 0) {
		(void)error_file(&err, -errno, "cannot read the directory");
		warn(plugins, folder, &err);
		return;
	}
	for (i = 0; i < count; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);

		if (n > 0 && (size_t)n < sizeof(path))
			load_one(plugins, path);
		free(entries[i]);
	}
	free(entries);
}

/* An entry that does not exist or cannot be read causes a warning, because the user named it. */
static void load_paths(struct plugins *plugins, char *paths)
{
	char *rest = paths;
	char *path;

	while ((path = strsep(&rest, ":"))) {
		struct stat status;

		if (!*path)
			continue;
		if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			load_folder(plugins, path);
		else
			load_one(plugins, path);
	}
}

/*
 * The loader marks programs that got privileges from their file. Privileges from a service manager
 * or setpriv (ambient capabilities) come without that mark. Root has all of them anyway.
 */
static bool is_privileged(void)
{
	static const char *const fields[] = {"CapEff", "CapPrm"};
	uint64_t mask;
	size_t i;

	if (getauxval(AT_SECURE))
		return true;
	for (i = 0; geteuid() != 0 && i < ARRAY_SIZE(fields); i++)
		if (thread_status_read(0, fields[i], 16, &mask) < 0 || mask != 0)
			return true;
	return false;
}

struct plugins *plugins_load(const char *paths, plugin_warning_fn *warning, void *self)
{
	struct plugins *plugins = calloc(1, sizeof(*plugins));
	SCOPED(mem) char *copy = strdup(paths ? paths : "");

	if (!plugins || plugin_lists_init(&plugins->lists, warning, self) < 0 || !copy) {
		plugins_free(plugins);
		return NULL;
	}
	plugins->warn = warning;
	plugins->self = self;
	if (*copy && is_privileged()) {
		struct error err = {0};

		(void)error_set(&err, -EPERM,
				"WICK_PLUGINS is ignored: wick runs with elevated privileges");
		error_remedy(&err,
			     "to use plug-ins, run a wick without capabilities or set-user-ID bit");
		if (warning)
			warning(self, &err);
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
	plugin_lists_fini(&plugins->lists);
	for (i = 0; i < plugins->objects.count; i++)
		(void)dlclose(plugins->objects.items[i]); /* nothing of it is in use any more */
	vec_fini(&plugins->objects);
	free(plugins);
}

const struct exporter_ops *const *plugins_exporters(const struct plugins *plugins)
{
	static const struct exporter_ops *const none[] = {NULL};

	return plugins ? plugins->lists.exporters.items : none;
}

const struct importer_ops *const *plugins_importers(const struct plugins *plugins)
{
	static const struct importer_ops *const none[] = {NULL};

	return plugins ? plugins->lists.importers.items : none;
}

const struct name_source *const *plugins_name_sources(const struct plugins *plugins)
{
	static const struct name_source *const none[] = {NULL};

	return plugins ? plugins->lists.sources.items : none;
}

const struct view_ops *const *plugins_views(const struct plugins *plugins)
{
	static const struct view_ops *const none[] = {NULL};

	return plugins ? plugins->lists.views.items : none;
}

const struct analyser_ops *const *plugins_analysers(const struct plugins *plugins)
{
	static const struct analyser_ops *const none[] = {NULL};

	return plugins ? plugins->lists.analysers.items : none;
}

const struct exporter_ops *plugins_find_exporter(const struct plugins *plugins, const char *name)
{
	const struct exporter_ops *const *at;

	for (at = plugins_exporters(plugins); *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return exporter_find(name);
}

const struct view_ops *plugins_find_view(const struct plugins *plugins, const char *name)
{
	const struct view_ops *const *at;

	for (at = plugins_views(plugins); *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return view_find(name);
}

const struct analyser_ops *plugins_find_analyser(const struct plugins *plugins, const char *name)
{
	const struct analyser_ops *const *at;

	for (at = plugins_analysers(plugins); *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return analyser_find(name);
}
