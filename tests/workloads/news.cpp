/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All forms of operator new and delete; says as JSON, as blocks does, what each function took
 * and kept. With OWN_NEW the program brings those two that all others come down to.
 */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#define NOINLINE __attribute__((noinline))
#define TIMES 100

extern "C" { /* names as they are written */

static constexpr std::align_val_t WIDE{64};
static void *volatile kept[TIMES];
static const char *separator = "{";
static int own;

/* The compiler must not know what becomes of a block. */
static void *hide(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

static void say(const char *name, long blocks, long bytes, long live)
{
	std::printf("%s\"%s\": {\"blocks\": %ld, \"bytes\": %ld, \"live\": %ld}", separator, name,
		    blocks, bytes, live);
	separator = ", ";
}

/* TIMES blocks by an expression, given back in three ways in turn; every fourth one stays. */
#define BY(name, size, make, first, second, third)                                                 \
	static NOINLINE void name()                                                                \
	{                                                                                          \
		for (int i = 0; i < TIMES; i++) {                                                  \
			void *block = hide(make);                                                  \
                                                                                                   \
			if (i % 4 == 1)                                                            \
				first;                                                             \
			else if (i % 4 == 2)                                                       \
				second;                                                            \
			else if (i % 4 == 3)                                                       \
				third;                                                             \
			else                                                                       \
				kept[i] = block;                                                   \
		}                                                                                  \
		say(#name, TIMES, TIMES *(size), TIMES / 4 * (size));                              \
	}                                                                                          \
	static_assert(true, "takes a semicolon")

BY(by_new, 40, ::operator new(40), ::operator delete(block), ::operator delete(block, 40),
   ::operator delete(block, std::nothrow));
BY(by_new_array, 50, ::operator new[](50), ::operator delete[](block),
   ::operator delete[](block, 50), ::operator delete[](block, std::nothrow));
BY(by_quiet_new, 60, ::operator new(60, std::nothrow), ::operator delete(block),
   ::operator delete(block, 60), ::operator delete(block, std::nothrow));
BY(by_quiet_new_array, 70, ::operator new[](70, std::nothrow), ::operator delete[](block),
   ::operator delete[](block, 70), ::operator delete[](block, std::nothrow));
BY(by_wide_new, 128, ::operator new(128, WIDE), ::operator delete(block, WIDE),
   ::operator delete(block, 128, WIDE), ::operator delete(block, WIDE, std::nothrow));
BY(by_wide_new_array, 192, ::operator new[](192, WIDE), ::operator delete[](block, WIDE),
   ::operator delete[](block, 192, WIDE), ::operator delete[](block, WIDE, std::nothrow));
BY(by_quiet_wide_new, 256, ::operator new(256, WIDE, std::nothrow), ::operator delete(block, WIDE),
   ::operator delete(block, 256, WIDE), ::operator delete(block, WIDE, std::nothrow));
BY(by_quiet_wide_new_array, 320, ::operator new[](320, WIDE, std::nothrow),
   ::operator delete[](block, WIDE), ::operator delete[](block, 320, WIDE),
   ::operator delete[](block, WIDE, std::nothrow));

/* What cannot be had throws through the functions that record it. */
static NOINLINE int refuse(int i)
{
	volatile std::size_t huge = static_cast<std::size_t>(-1) >> 1;
	int refused = hide(::operator new(huge, std::nothrow)) == nullptr;

	try {
		kept[i] = i % 2 ? ::operator new(huge) : ::operator new[](huge, WIDE);
	} catch (const std::bad_alloc &) {
		refused++;
	}
	return refused;
}

static NOINLINE void after_refusal()
{
	::operator delete(hide(::operator new(24)));
}

static void by_refused_new()
{
	int refused = 0;

	for (int i = 0; i < TIMES; i++) {
		refused += refuse(i);
		after_refusal();
	}
	say("after_refusal", TIMES, TIMES * 24, 0);
	std::printf(", \"refused\": %d", refused);
}
}

#ifdef OWN_NEW
void *operator new(std::size_t size)
{
	void *block = std::malloc(size);

	own++;
	if (!block)
		throw std::bad_alloc();
	return block;
}

void operator delete(void *block) noexcept
{
	std::free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
	std::free(block);
}
#endif

int main()
{
	static char buffer[4096]; /* or the first to say something would allocate it */

	std::setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	by_new();
	by_new_array();
	by_quiet_new();
	by_quiet_new_array();
	by_wide_new();
	by_wide_new_array();
	by_quiet_wide_new();
	by_quiet_wide_new_array();
	by_refused_new();
	std::printf(", \"own\": %d}\n", own);
	return 0;
}
