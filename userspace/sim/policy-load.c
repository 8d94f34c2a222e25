// SPDX-License-Identifier: GPL-2.0-only
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#include "core/policy/param-registry.h"
#include "core/policy/policies.h"
#include "core/policy/policy-object.h"
#include "policy-load.h"

static __thread const struct aftl_policy_type *offered;

void set_policy_of_thread(const struct aftl_policy_type *type)
{
	offered = type;
}

const struct aftl_policy_type *find_policy_of_thread(const char *name)
{
	return offered && !strcmp(offered->name, name) ? offered : NULL;
}

/* Check the file: dlerror() does not say whether it is missing, unreadable or a directory. */
static int check_policy_file_is_readable(const char *path, struct aftl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;
	int ret = 0;

	if (fd < 0 || read(fd, &byte, 1) < 0)
		ret = aftl_fail(error, -EINVAL,
				"--policy: cannot read %.90s: %s; give the path of a shared object",
				path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Report dlerror() without the path at its begin, because the error message has the path, too. */
static int report_object_load_error(const char *path, struct aftl_error *error)
{
	const char *cause = dlerror();
	size_t length = strlen(path);

	if (!strncmp(cause, path, length) && !strncmp(cause + length, ": ", 2))
		cause += length + 2;
	if (strstr(cause, "undefined symbol"))
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: %.80s; call only functions of core/policy",
				 path, cause);
	return aftl_fail(error, -EINVAL,
			 "--policy %.60s: %.90s; compile it with cc -shared -fPIC", path, cause);
}

static int check_object_abi(const char *path, const struct aftl_policy_object *object,
			    struct aftl_error *error)
{
	if (object->abi != AFTL_POLICY_ABI)
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: it has version %u of the contract, this program has %u; compile it with this program's headers",
				 path, object->abi, AFTL_POLICY_ABI);
	if (object->type_bytes != sizeof(struct aftl_policy_type) ||
	    object->config_bytes != sizeof(struct aftl_config) ||
	    object->block_bytes != sizeof(struct aftl_block))
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: its structures have other sizes than this program's; compile it with this program's headers",
				 path);
	return 0;
}

/* A loaded policy cannot add parameters: their registry is fixed when the program is built. */
static bool has_policy_unregistered_params(const struct aftl_policy_type *type)
{
	struct aftl_config config = { 0 };

	for (u32 i = 0; i < AFTL_GROUPS_MAX; i++)
		if (type->params[i] && !aftl_get_values_of_param_group(&config, type->params[i]))
			return true;
	return false;
}

static int check_policy_of_shared_object(const char *path, const struct aftl_policy_type *type,
					 struct aftl_error *error)
{
	if (!type || !type->name || !type->about || !type->kinds[0] || !type->place ||
	    !type->open_blocks)
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: the policy is incomplete; set name, about, kinds, open_blocks and place",
				 path);
	if (aftl_policy_find(type->name))
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: a built-in policy has the name %.40s, too; choose another one",
				 path, type->name);
	if (has_policy_unregistered_params(type))
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: only built-in policies can declare parameters; make them constants, or add the policy to policy-list.h",
				 path);
	return 0;
}

int policy_load_shared_object(const char *path, const struct aftl_policy_type **type,
			      struct aftl_error *error)
{
	const struct aftl_policy_object *object;
	void *handle;
	int ret = check_policy_file_is_readable(path, error);

	if (ret)
		return ret;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return report_object_load_error(path, error);
	object = dlsym(handle, AFTL_POLICY_SYMBOL);
	if (!object) {
		dlclose(handle);
		return aftl_fail(error, -EINVAL,
				 "--policy %.60s: it exports no policy; add AFTL_EXPORT_POLICY() of core/policy/policy-object.h",
				 path);
	}
	ret = check_object_abi(path, object, error);
	if (!ret)
		ret = check_policy_of_shared_object(path, object->type, error);
	if (ret)
		dlclose(handle);
	else
		*type = object->type;
	return ret;
}
