// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/approxftl: programs declare which of their data are approximate.
 *
 * Only root may open it, unless a udev rule or an administrator grants access. Permission to tag a
 * file is checked for each descriptor.
 */
#include <linux/ctype.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "tags/control.h"

#define LAST_MEMBER(type, member) offsetofend(struct type, member)

/* Kernel copy of the structure of an ioctl. */
union argument {
	u32 size;
	struct approxftl_caps caps;
	struct approxftl_range range;
	struct approxftl_query query;
	struct approxftl_scope scope;
	struct approxftl_pwritev pwritev;
	struct approxftl_stored stored;
	struct approxftl_watch watch;
	struct approxftl_note note;
	struct approxftl_stats stats;
	struct approxftl_tag_fd tag_fd;
};

/**
 * struct call - an ioctl of /dev/approxftl
 * @size: current size of its structure
 * @least: size of the structure in version 1 of the interface
 * @run: function that executes the ioctl
 */
struct call {
	u32 size;
	u32 least;
	aftl_control_fn run;
};

static int increment_device_count(struct aftl_target *target, void *devices)
{
	++*(u32 *)devices;
	return 0;
}

static int execute_caps_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_caps *caps = argument;

	*caps = (struct approxftl_caps){
		.size = caps->size,
		.version = APPROXFTL_VERSION,
		.can = APPROXFTL_CAN_FILE | APPROXFTL_CAN_BUFFER | APPROXFTL_CAN_SCOPE |
		       APPROXFTL_CAN_DEVICE | APPROXFTL_CAN_STORED | APPROXFTL_CAN_WATCH |
		       APPROXFTL_CAN_LEVEL | APPROXFTL_CAN_CARRIER,
	};
	if (IS_ENABLED(CONFIG_BLK_DEV_IO_TRACE))
		caps->can |= APPROXFTL_CAN_NOTE;
	caps->may = caps->can;
	/* Do not audit the check of CAP_SYS_ADMIN: the ioctl APPROXFTL_CAPS uses no privilege. */
	if (!ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN))
		caps->may &= ~(APPROXFTL_CAN_DEVICE | APPROXFTL_CAN_WATCH);
	aftl_get_limits_of_tagged_files(caps);
	aftl_call_fn_on_each_target(increment_device_count, &caps->devices);
	return 0;
}

/* Copy a label from user space; it must be printable ASCII, so that it fits in a line of text. */
static int copy_label_from_user(char *label, u64 address, u32 length)
{
	u32 i;

	if (length > APPROXFTL_LABEL_MAX)
		return -EINVAL;
	if (copy_from_user(label, u64_to_user_ptr(address), length))
		return -EFAULT;
	label[length] = '\0';
	for (i = 0; i < length; i++)
		if (!isascii(label[i]) || !isprint(label[i]))
			return -EINVAL;
	return 0;
}

static int execute_scope_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_scope *scope = argument;
	char label[APPROXFTL_LABEL_MAX + 1];
	u32 previous;
	int ret;

	if (scope->whose > APPROXFTL_PROCESS || scope->class > APPROXFTL_LEVEL_3 ||
	    scope->reserved)
		return -EINVAL;
	ret = copy_label_from_user(label, scope->label, scope->label_length);
	if (!ret)
		ret = aftl_scopes_set_tag(&control->scopes, scope->whose,
					  aftl_class_to_tag(scope->class), &previous);
	if (ret)
		return ret;
	scope->previous = aftl_tag_to_class(previous);
	aftl_blktrace_emit_task_tag_change(scope->whose, aftl_class_to_tag(scope->class), label);
	return 0;
}

static int execute_trace_note_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_note *note = argument;
	char label[APPROXFTL_LABEL_MAX + 1];
	int ret = note->length ? copy_label_from_user(label, note->label, note->length) : -EINVAL;

	return ret ? ret : aftl_blktrace_emit_user_label(label);
}

static int execute_stats_ioctl(struct aftl_control *control, void *argument)
{
	struct approxftl_stats *stats = argument;

	*stats = (struct approxftl_stats){ .size = stats->size };
	aftl_get_stats_of_tagged_files(stats);
	aftl_get_decision_stats(stats);
	stats->scopes = aftl_count_scopes();
	stats->watches = aftl_count_watched_file_systems();
	return 0;
}

#define CALL(number, type, member, function)                                                       \
	[_IOC_NR(number) - _IOC_NR(APPROXFTL_CAPS)] = {                                            \
		.size = sizeof(struct type),                                                       \
		.least = LAST_MEMBER(type, member),                                                \
		.run = function,                                                                   \
	}

/* The ioctls: CALL(ioctl, its structure, last member that version 1 had, handler) */
static const struct call calls[] = {
	CALL(APPROXFTL_CAPS, approxftl_caps, reserved, execute_caps_ioctl),
	CALL(APPROXFTL_TAG, approxftl_range, reserved, aftl_control_tag_range),
	CALL(APPROXFTL_UNTAG, approxftl_range, reserved, aftl_control_untag_range),
	CALL(APPROXFTL_QUERY, approxftl_query, count, aftl_control_query_file),
	CALL(APPROXFTL_SCOPE, approxftl_scope, reserved, execute_scope_ioctl),
	CALL(APPROXFTL_PWRITEV, approxftl_pwritev, written, aftl_control_pwritev),
	CALL(APPROXFTL_DEVICE_TAG, approxftl_range, reserved, aftl_control_tag_device),
	CALL(APPROXFTL_DEVICE_QUERY, approxftl_query, count, aftl_control_query_device),
	CALL(APPROXFTL_STORED, approxftl_stored, reason, aftl_control_query_stored_units),
	CALL(APPROXFTL_WATCH, approxftl_watch, reason, aftl_control_watch_file_system),
	CALL(APPROXFTL_NOTE, approxftl_note, label, execute_trace_note_ioctl),
	CALL(APPROXFTL_STATS, approxftl_stats, splits, execute_stats_ioctl),
	CALL(APPROXFTL_TAG_FD, approxftl_tag_fd, reserved, aftl_control_tag_fd),
};

/* Copy the ioctl's structure to user space on failure, too: it has the reason of a refusal. */
static int execute_control_ioctl(const struct call *call, struct aftl_control *control,
				 void __user *user)
{
	union argument argument = { };
	u32 size;
	int ret;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < call->least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&argument, call->size, user, size);
	if (ret)
		return ret;
	argument.size = size;
	ret = call->run(control, &argument);
	if (copy_to_user(user, &argument, min(size, call->size)))
		return -EFAULT;
	return ret;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long user)
{
	u32 index = _IOC_NR(command) - _IOC_NR(APPROXFTL_CAPS);

	if (command != _IO(APPROXFTL_IOCTL, _IOC_NR(command)) || index >= ARRAY_SIZE(calls))
		return -ENOTTY;
	return execute_control_ioctl(&calls[index], file->private_data, (void __user *)user);
}

static int control_open(struct inode *inode, struct file *file)
{
	struct aftl_control *control = kzalloc(sizeof(*control), GFP_KERNEL_ACCOUNT);

	if (!control)
		return -ENOMEM;
	aftl_scopes_init_list(&control->scopes);
	file->private_data = control;
	return 0;
}

static int control_release(struct inode *inode, struct file *file)
{
	struct aftl_control *control = file->private_data;

	aftl_scopes_remove_all(&control->scopes);
	kfree(control);
	return 0;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = control_release,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "approxftl",
	.fops = &control_fops,
};

int aftl_control_init(void)
{
	return misc_register(&control_device);
}

void aftl_control_exit(void)
{
	misc_deregister(&control_device);
}
