// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked-memory.h"
#include "file-claims.h"

/* Symbolic links that lead to where nothing is yet. */
#define LINKS 40

/**
 * struct claim - a file of the command line
 * @next: the one before
 * @path: as the user calls it
 * @option: that writes it, NULL if it is read
 * @place: its name without links, NULL if that says nothing
 * @there: it is there, and its numbers say which it is
 * @device: of a file, 0 for a disk
 * @number: of the file, or of the disk
 */
struct claim {
	struct claim *next;
	char *path;
	const char *option;
	char *place;
	bool there;
	dev_t device;
	u64 number;
};

static struct claim *claims;

/* Its folder without links, and its name there; NULL if there is no such folder. */
static char *place_of(const char *path)
{
	char *copy = memory_text(path), *slash = strrchr(copy, '/');
	const char *name = slash ? slash + 1 : copy;
	char folder[PATH_MAX], *place = NULL;

	if (slash)
		*slash = '\0';
	if (realpath(!slash ? "." : *copy ? copy : "/", folder)) {
		place = memory_zeroed(strlen(folder) + strlen(name) + 2, 1);
		sprintf(place, "%s/%s", folder, name);
	}
	free(copy);
	return place;
}

/* What the link @path leads to; NULL if it is none. */
static char *followed(const char *path)
{
	char link[PATH_MAX], *next;
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;

	if (length < 0)
		return NULL;
	link[length] = '\0';
	next = memory_zeroed((size_t)folder + (size_t)length + 1, 1);
	sprintf(next, "%.*s%s", *link == '/' ? 0 : folder, path, link);
	return next;
}

/* Links are followed one by one, for what they lead to need not be there yet. */
static char *final_place(const char *path)
{
	char *at = memory_text(path), *next, *place;
	unsigned int links;

	for (links = 0; links < LINKS && (next = followed(at)); links++) {
		free(at);
		at = next;
	}
	place = place_of(at);
	free(at);
	return place;
}

/* Of pipes and terminals several may write; what is read of one is not what is written to it. */
static void identify(struct claim *claim, const struct stat *state)
{
	if (S_ISBLK(state->st_mode)) {
		claim->there = true;
		claim->number = (u64)state->st_rdev;
	} else if (S_ISREG(state->st_mode) || (claim->option && !S_ISCHR(state->st_mode))) {
		claim->there = true;
		claim->device = state->st_dev;
		claim->number = (u64)state->st_ino;
	}
}

static struct claim *look_at(const char *path, const char *option)
{
	struct claim *claim = memory_zeroed(1, sizeof(*claim));
	bool standard = !strcmp(path, "-");
	struct stat state;
	bool found;

	claim->path = memory_text(standard ? option ? "standard output" : "standard input" : path);
	claim->option = option;
	found = !(standard ? fstat(option ? STDOUT_FILENO : STDIN_FILENO, &state) :
			     stat(path, &state));
	if (found)
		identify(claim, &state);
	/* What is replaced while the program runs has other numbers then. */
	if (!standard && (!found || S_ISREG(state.st_mode)))
		claim->place = final_place(path);
	return claim;
}

static void forget(struct claim *claim)
{
	free(claim->path);
	free(claim->place);
	free(claim);
}

static bool same_file(const struct claim *a, const struct claim *b)
{
	if (a->there && b->there && a->device == b->device && a->number == b->number)
		return true;
	return a->place && b->place && !strcmp(a->place, b->place);
}

/* Reading twice harms nobody, and an option may claim its own output again. */
static bool same_purpose(const struct claim *a, const struct claim *b)
{
	if (!a->option || !b->option)
		return a->option == b->option;
	return !strcmp(a->option, b->option);
}

static int blame(const struct claim *new, const struct claim *old, struct aftl_error *error)
{
	const struct claim *output = new->option ? new : old;

	if (new->option && old->option)
		return aftl_fail(error, -EEXIST,
				 "%.120s: is also written by %s; give %s another name", new->path,
				 old->option, new->option);
	return aftl_fail(error, -EEXIST, "%.120s: is also read; give %s another name",
			 output->path, output->option);
}

static int add(struct claim *claim, struct aftl_error *error)
{
	const struct claim *old = claims;
	int ret = 0;

	while (old && !same_file(claim, old))
		old = old->next;
	if (!old) {
		claim->next = claims;
		claims = claim;
		return 0;
	}
	if (!same_purpose(claim, old))
		ret = blame(claim, old, error);
	forget(claim);
	return ret;
}

int claim_input(const char *path, struct aftl_error *error)
{
	return add(look_at(path, NULL), error);
}

int claim_output(const char *path, const char *option, struct aftl_error *error)
{
	return add(look_at(path, option), error);
}
