// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "aftl-host.h"
#include "standard-streams.h"

/* Open closed streams with the wrong access mode: reading stdin or writing stdout then fails. */
void standard_streams_set_up(void)
{
	/* Let write() fail with EFBIG at a file size limit instead of killing the program. */
	signal(SIGXFSZ, SIG_IGN);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

enum exit_code standard_streams_end(const char *name, enum exit_code code)
{
	bool failed = ferror(stdout);

	errno = 0;
	failed |= fflush(stdout) != 0;
	if (!failed)
		return code;
	fprintf(stderr, "%s: standard output: cannot write: %s\n", name,
		strerror(errno ? errno : EIO));
	return code ? code : EXIT_FAILED;
}
