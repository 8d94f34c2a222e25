// SPDX-License-Identifier: GPL-2.0-only
/*
 * approx.hpp at work: exits with 0, or says which line was wrong.
 */
#include <cstdio>
#include <cstring>
#include <vector>

#include <sys/stat.h>

#include "approx.hpp"

#define MUST(condition) \
	do { \
		if (!(condition)) { \
			std::printf("%d: %s\n", __LINE__, #condition); \
			return 1; \
		} \
	} while (0)

using approxftl::approx;

static_assert(sizeof(approx<float>) == sizeof(float));
static_assert(std::is_trivially_copyable_v<approx<double>>);
static_assert(std::is_standard_layout_v<approx<short>>);
static_assert((approx<int>(2) + 3).endorse() == 5);
static_assert((2.0 * approx<int>(3)).endorse() == 6.0);
static_assert(std::is_same_v<decltype(approx<int>(1) + 1.0), approx<double>>);
static_assert(std::is_same_v<decltype(approx<int>(1) < 2), approx<bool>>);
static_assert(select(approx<int>(1) < 2, approx<int>(7), approx<int>(8)).endorse() == 7);
static_assert((!(approx<int>(1) == 1)).endorse() == false);

static int arithmetic()
{
	approx<int> a = 6;

	a += 2;
	a <<= 1;
	a %= 10;
	MUST(a.endorse() == 6);
	MUST((~a).endorse() == ~6);
	MUST((-a).endorse() == -6);
	approx<double> wide = a;
	MUST((wide / 4).endorse() == 1.5);
	return 0;
}

static int files(const char *path)
{
	approxftl::device device(path);
	approxftl::file file(device, path);
	const approx<float> data[] = { 1.5f, 2.5f };
	const int header[] = { 42 };
	approx<float> back[4];
	struct approxftl_extent said[4];

	file.write(header, 1, 0);
	file.write(data, 2, 4096);
	MUST(file.read(back, 4, 4096) == 2);
	MUST(back[1].endorse() == 2.5f);
	if (device.active()) {
		MUST(approxftl_query(device.get(), file.descriptor(), 0, said, 4) == 2);
		MUST(said[0].kind == APPROXFTL_PRECISE && said[0].length == sizeof(header));
		MUST(said[1].kind == APPROXFTL_APPROXIMATE && said[1].offset == 4096);
	}
	file.tag();
	file.protect(0, 4096);
	file.sync();
	MUST(file.errors().lost_units == 0);
	file.untag();
	MUST(!device.active() ||
	     approxftl_query(device.get(), file.descriptor(), 0, said, 4) == 0);
	return 0;
}

static int levels(const char *path)
{
	approxftl::device device(path);
	approxftl::file file(device, path, O_RDWR | O_TRUNC);
	const std::vector<approx<char>> data(4096, 'x');
	struct approxftl_extent said[4];
	off_t at = 0;

	for (unsigned int level : { 2, 3, 0, 1, 3 })
		file.write(data.data(), data.size(), 4096 * at++, level);
	file.sync();
	MUST(file.level_errors(3).units == (device.active() ? 2 : 0));
	for (unsigned int level : { 0, 1, 2 })
		MUST(file.level_errors(level).units == (device.active() ? 1 : 0));
	MUST(!device.active() ||
	     (approxftl_query(device.get(), file.descriptor(), 0, said, 4) == 4 &&
	      said[0].level == 2 && said[1].level == 3 && said[2].level == 0 &&
	      said[3].level == 1 && said[3].kind == APPROXFTL_APPROXIMATE));
	try {
		file.level_errors(APPROXFTL_LEVEL_MAX + 1);
	} catch (const approxftl::error &refusal) {
		return refusal.code().value() != EINVAL;
	}
	return 1;
}

static int arrays(const char *path)
{
	approxftl::device device(path);
	approxftl::file file(device, path, O_RDWR | O_TRUNC);
	approxftl::arena arena(device, file.descriptor());
	approxftl::array<double> numbers{ approxftl::allocator<approx<double>>(arena) };
	approx<double> sum = 0;
	struct stat status;

	for (int i = 0; i < 100000; i++)
		numbers.push_back(i);
	for (approx<double> number : numbers)
		sum += number;
	MUST(sum.endorse() == 4999950000.0);
	const off_t where = arena.offset(numbers.data());
	arena.sync();
	MUST(arena.at<double>(where) == numbers.data());
	MUST(!fstat(file.descriptor(), &status) && status.st_size >= 800000);
	return 0;
}

static int refusals(const char *path)
{
	approxftl::device device(path);
	approxftl::file file(device, path, O_RDONLY);
	approxftl::region outer(device, APPROXFTL_APPROXIMATE, "outer");

	try {
		file.tag(-5);
	} catch (const approxftl::error &refusal) {
		MUST(refusal.code().value() == EINVAL);
		MUST(std::strstr(refusal.what(), "first byte"));
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return arithmetic() || files(argv[1]) || levels(argv[1]) || arrays(argv[1]) || refusals(argv[1]);
}
