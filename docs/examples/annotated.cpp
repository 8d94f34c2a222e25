// SPDX-License-Identifier: GPL-2.0-only
/*
 * annotated.c in C++: pixels are approximate because of their type, the header is not.
 *
 *	c++ -std=c++17 annotated.cpp -o annotated $(pkg-config --cflags --libs approxftl)
 */
#include <approx.hpp>
#include <cstdio>
#include <cstring>

using pixel = approxftl::approx<unsigned char>;

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;

	approxftl::device device;
	approxftl::file file(device, argv[1]);
	char header[4096] = "a header of 4 KiB", same[sizeof(header)];
	std::vector<pixel> picture(1 << 20), back(picture.size());
	unsigned int flips = 0;

	for (std::size_t i = 0; i < picture.size(); i++)
		picture[i] = static_cast<unsigned char>(i * i >> 12);
	if (file.read(back.data(), back.size(), sizeof(header)) != back.size()) {
		file.write(header, sizeof(header), 0);
		file.write(picture.data(), picture.size(), sizeof(header));
		file.sync();
		return 0;
	}
	for (std::size_t i = 0; i < picture.size(); i++)
		flips += __builtin_popcount((picture[i] ^ back[i]).endorse());
	file.read(same, sizeof(same), 0);
	std::printf("%u bits have flipped, the library says %llu; the header is %s\n", flips,
		    static_cast<unsigned long long>(file.errors().flipped_bits),
		    std::memcmp(header, same, sizeof(same)) ? "lost" : "intact");
	return 0;
}
