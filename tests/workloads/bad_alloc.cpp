// SPDX-License-Identifier: BSD-2-Clause

// Asks for more than there is, and goes on: first a handler frees what it has in reserve, then the
// exception is caught. Nothing is lost.

#include <cstddef>
#include <cstdio>
#include <new>

static char *reserve;

static void free_reserve()
{
	if (!reserve)
		throw std::bad_alloc();
	delete[] reserve;
	reserve = nullptr;
}

static bool is_refused()
{
	try {
		operator delete(operator new(static_cast<std::size_t>(1) << 62));
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

int main()
{
	int refused = 0;

	for (int i = 0; i < 3; i++)
		refused += is_refused();
	reserve = new char[10007];
	std::set_new_handler(free_reserve);
	for (int i = 0; i < 3; i++)
		refused += is_refused();
	std::printf("%d\n", refused);
	return refused == 6 && !reserve ? 0 : 1;
}
