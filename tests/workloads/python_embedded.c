/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that contains an interpreter: compiled_host() runs the Python program named by its
 * argument, for as many seconds as the next one says.
 */
#include <Python.h>

__attribute__((noinline)) static int compiled_host(const char *path)
{
	FILE *file = fopen(path, "r");
	int r;

	if (!file)
		return 1;
	r = PyRun_SimpleFileEx(file, path, 1);
	/* Not a tail call: this function stays on the stack. */
	return r == 0 ? 0 : 2;
}

int main(int argc, char **argv)
{
	PyConfig config;
	int r;

	if (argc < 3)
		return 1;
	PyConfig_InitPythonConfig(&config);
	config.parse_argv = 0;
	PyConfig_SetBytesArgv(&config, argc - 1, argv + 1);
	if (PyStatus_Exception(Py_InitializeFromConfig(&config)))
		return 1;
	PyConfig_Clear(&config);
	r = compiled_host(argv[1]);
	Py_Finalize();
	return r;
}
