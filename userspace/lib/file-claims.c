// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked-memory.h"
#include "file-claims.h"

/* Maximum number of symbolic links to follow. */
#define LINKS 40

/**
 * struct claim - a registered file
 * @next: the claim that was added before
 * @path: path as the user typed it
 * @option: option that names the output; NULL for an input
 * @place: resolved path; NULL if a path cannot identify the file
 * @there: @device and @number are valid and identify the file
 * @device: st_dev of a regular file; 0 for a block device
 * @number: inode number, or st_rdev of a block device
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

/* Claimed files of the command that this thread runs: a library may run a command per thread. */
static __thread struct claim *claims;

/* Resolve the directory of @path and append the file name; NULL if there is no such directory. */
static char *resolve_parent_directory(const char *path)
{
	char *copy = memory_copy_text(path), *slash = strrchr(copy, '/');
	const char *name = slash ? slash + 1 : copy;
	char folder[PATH_MAX], *place = NULL;

	if (slash)
		*slash = '\0';
	if (realpath(!slash ? "." : *copy ? copy : "/", folder)) {
		place = memory_alloc_zeroed(strlen(folder) + strlen(name) + 2, 1);
		sprintf(place, "%s/%s", folder, name);
	}
	free(copy);
	return place;
}

/* Return the target of the symbolic link @path; NULL if it is not a link. */
static char *read_symlink_target(const char *path)
{
	char link[PATH_MAX], *next;
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;

	if (length < 0)
		return NULL;
	link[length] = '\0';
	next = memory_alloc_zeroed((size_t)folder + (size_t)length + 1, 1);
	sprintf(next, "%.*s%s", *link == '/' ? 0 : folder, path, link);
	return next;
}

/* Follow links one by one, because realpath() fails if the last target does not exist yet. */
static char *resolve_symlink_chain(const char *path)
{
	char *at = memory_copy_text(path), *next, *place;

	for (unsigned int links = 0; links < LINKS && (next = read_symlink_target(at)); links++) {
		free(at);
		at = next;
	}
	place = resolve_parent_directory(at);
	free(at);
	return place;
}

/*
 * Several outputs may share a pipe or terminal, and reading from one does not conflict with writing
 * to it. Leave pipes and terminals unidentified.
 */
static void read_file_identity(struct claim *claim, const struct stat *state)
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

static struct claim *identify_claimed_path(const char *path, const char *option)
{
	struct claim *claim = memory_alloc_zeroed(1, sizeof(*claim));
	bool standard = !strcmp(path, "-");
	struct stat state;
	bool found;

	claim->path =
		memory_copy_text(standard ? option ? "standard output" : "standard input" : path);
	claim->option = option;
	found = !(standard ? fstat(option ? STDOUT_FILENO : STDIN_FILENO, &state) :
			     stat(path, &state));
	if (found)
		read_file_identity(claim, &state);
	/*
	 * A regular file may be replaced while the program runs, which changes the inode: keep the
	 * path, too.
	 */
	if (!standard && (!found || S_ISREG(state.st_mode)))
		claim->place = resolve_symlink_chain(path);
	return claim;
}

static void free_file_claim(struct claim *claim)
{
	free(claim->path);
	free(claim->place);
	free(claim);
}

static bool do_claims_name_same_file(const struct claim *a, const struct claim *b)
{
	if (a->there && b->there && a->device == b->device && a->number == b->number)
		return true;
	return a->place && b->place && !strcmp(a->place, b->place);
}

/* True if two claims of a file are no conflict: both are inputs, or outputs of one option. */
static bool are_file_claims_compatible(const struct claim *a, const struct claim *b)
{
	if (!a->option || !b->option)
		return a->option == b->option;
	return !strcmp(a->option, b->option);
}

static int report_claim_conflict(const struct claim *new, const struct claim *old,
				 struct aftl_error *error)
{
	const struct claim *output = new->option ? new : old;

	if (new->option && old->option)
		return aftl_fail(error, -EEXIST,
				 "%.120s: is also written by %s; give %s another name", new->path,
				 old->option, new->option);
	return aftl_fail(error, -EEXIST, "%.120s: is also read; give %s another name",
			 output->path, output->option);
}

static int add_file_claim(struct claim *claim, struct aftl_error *error)
{
	const struct claim *old = claims;
	int ret = 0;

	while (old && !do_claims_name_same_file(claim, old))
		old = old->next;
	if (!old) {
		claim->next = claims;
		claims = claim;
		return 0;
	}
	if (!are_file_claims_compatible(claim, old))
		ret = report_claim_conflict(claim, old, error);
	free_file_claim(claim);
	return ret;
}

int claim_input_file(const char *path, struct aftl_error *error)
{
	return add_file_claim(identify_claimed_path(path, NULL), error);
}

int claim_output_file(const char *path, const char *option, struct aftl_error *error)
{
	return add_file_claim(identify_claimed_path(path, option), error);
}

void release_file_claims(void)
{
	while (claims) {
		struct claim *claim = claims;

		claims = claim->next;
		free_file_claim(claim);
	}
}
