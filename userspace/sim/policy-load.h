/* SPDX-License-Identifier: GPL-2.0-only */
/* Load policies from shared objects. */
#ifndef AFTL_POLICY_LOAD_H
#define AFTL_POLICY_LOAD_H

#include "core/policy/nand-policy.h"

/**
 * policy_load_shared_object() - load the policy of a shared object, which stays loaded
 * @path: path of the object, with a slash
 * @type: takes the policy
 * @error: takes the message on failure
 *
 * Return: 0, or -EINVAL if the file cannot be loaded or its policy cannot be used.
 */
#ifdef __wasm__
static inline int __must_check policy_load_shared_object(const char *path,
							 const struct aftl_policy_type **type,
							 struct aftl_error *error)
{
	*type = NULL;
	return aftl_fail(error, -EINVAL,
			 "--policy %.60s: a browser loads no shared object; give the name of a policy",
			 path);
}

static inline const struct aftl_policy_type *find_policy_of_thread(const char *name)
{
	(void)name;
	return NULL;
}
#else
/* Return the policy of set_policy_of_thread() in this thread if @name is its name, else NULL. */
const struct aftl_policy_type *find_policy_of_thread(const char *name);

/* Let this thread find @type, a policy of the process, by its name from now on; NULL: none. */
void set_policy_of_thread(const struct aftl_policy_type *type);

int __must_check policy_load_shared_object(const char *path, const struct aftl_policy_type **type,
					   struct aftl_error *error);
#endif

#endif
