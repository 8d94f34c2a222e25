// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdatomic.h>

#include "aftl-host.h"
#include "interruption.h"

static atomic_bool seen;

static void note(int number __maybe_unused)
{
	atomic_store(&seen, true);
}

void interruption_catch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note, .sa_flags = (int)SA_RESETHAND };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

bool interrupted(void)
{
	return atomic_load(&seen);
}
