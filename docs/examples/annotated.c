// SPDX-License-Identifier: GPL-2.0-only
/*
 * Store a picture with approximate pixels and a precise header. The first run writes it, later runs
 * count its wrong bits:
 *
 *	cc annotated.c -o annotated $(pkg-config --cflags --libs approxftl)
 *	./annotated /mnt/picture
 */
#include <approxftl.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned char picture[4096 + (1 << 20)] = "a header of 4 KiB", back[sizeof(picture)];

int main(int argc, char **argv)
{
	struct approxftl_errors errors;
	unsigned int i, flips = 0;
	struct approxftl *a;
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0644) : -1;

	for (i = 4096; i < sizeof(picture); i++)
		picture[i] = i * i >> 12;
	if (fd < 0 || approxftl_open(argv[1], 0, &a))
		return 1;
	if (pread(fd, back, sizeof(back), 0) != sizeof(back)) {
		if (approxftl_tag(a, fd, 4096, APPROXFTL_TO_END, APPROXFTL_APPROXIMATE) ||
		    pwrite(fd, picture, sizeof(picture), 0) != sizeof(picture) || fsync(fd))
			return 1;
		return 0;
	}
	for (i = 0; i < sizeof(picture); i++)
		flips += __builtin_popcount(picture[i] ^ back[i]);
	if (approxftl_errors(a, fd, 0, APPROXFTL_TO_END, &errors))
		return 1;
	printf("%u bits have flipped, the library says %llu; the header is %s\n", flips,
	       (unsigned long long)errors.flipped_bits,
	       memcmp(picture, back, 4096) ? "lost" : "intact");
	approxftl_close(a);
	return 0;
}
