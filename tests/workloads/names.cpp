/* SPDX-License-Identifier: BSD-2-Clause */

/* names [MS]: burns MS in a C++ member function of a template. */

#include "burn.h"

namespace shapes
{

template <typename T> class circle
{
      public:
	NOINLINE uint64_t area(T cpu_ns) const
	{
		return burn_cpu(static_cast<uint64_t>(cpu_ns));
	}
};

} // namespace shapes

int main(int argc, char **argv)
{
	uint64_t cpu_ns = argument(argc, argv, 1, 500) * NS_PER_MS;
	uint64_t burnt_ns = shapes::circle<long>().area(static_cast<long>(cpu_ns));

	printf("{\"cpu_ns\": %llu, \"contains\": \"shapes::circle<long>::area(long)\"}\n",
	       static_cast<unsigned long long>(burnt_ns));
	return 0;
}
