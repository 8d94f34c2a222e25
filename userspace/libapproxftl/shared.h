/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of XFS that have, or have had, clones. XFS tells the kernel's module nothing of where they
 * are; programs are told, and ask the device about what is there.
 */
#ifndef AFTL_LIB_SHARED_H
#define AFTL_LIB_SHARED_H

#include <stdint.h>

/**
 * aftl_lib_shared_open() - the device to ask about a file instead of asking about the file
 * @control: of the library
 * @fd: the file
 * @device: takes its descriptor, or -1 if it is no such file
 *
 * Return: 0, or a negative error number, of which approxftl_reason() knows.
 */
int aftl_lib_shared_open(int control, int fd, int *device);

/**
 * struct aftl_lib_piece - a part of a file that is in one place
 * @first: its first byte
 * @stop: the first byte behind it
 * @shift: so many bytes before the file's are the device's, modulo 2^64
 */
struct aftl_lib_piece {
	uint64_t first;
	uint64_t stop;
	uint64_t shift;
};

/*
 * The first piece from @at to before @end. Returns 1, 0 if there is none, or a negative error
 * number.
 */
int aftl_lib_shared_next(int fd, uint64_t at, uint64_t end, struct aftl_lib_piece *piece);

#endif
