/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_new: a part in C++ of a program that is not, with the operators that all others come
 * down to. What one of them made must come to the other.
 */
#include <cstddef>
#include <cstdlib>
#include <new>

static constexpr std::size_t HEAD = 16;
static constexpr long MARK = 0x77696b;
static int made;
static int strange;

void *operator new(std::size_t size)
{
	void *block = std::malloc(size + HEAD);

	if (!block)
		std::abort();
	*static_cast<long *>(block) = MARK;
	made++;
	return static_cast<char *>(block) + HEAD;
}

void operator delete(void *block) noexcept
{
	char *begin = static_cast<char *>(block) - HEAD;

	if (*reinterpret_cast<long *>(begin) != MARK)
		strange++;
	else
		std::free(begin);
}

void operator delete(void *block, std::size_t) noexcept
{
	::operator delete(block);
}

/* Blocks made by its own operators, in each way, and -1 when one came back that was not. */
extern "C" __attribute__((visibility("default"))) int plugin_new(void)
{
	for (int i = 0; i < 10; i++) {
		::operator delete[](::operator new[](30)); /* the library's, which calls ours */
		::operator delete(::operator new(20));
	}
	return strange ? -1 : made;
}
