/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of the kernel that NVMeVirt's translation layer calls, for one userspace thread. */
#ifndef PEERS_KERNEL_STUBS_H
#define PEERS_KERNEL_STUBS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#include "closed-queue.h"

typedef uint32_t u32;

#define __iomem
#define GFP_KERNEL 0
#define KERN_INFO "6"
#define KERN_ERR "3"
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define BUG_ON(broken) assert(!(broken))
#define cpu_relax() do { } while (0)
#define pr_info_once(...) do { } while (0)
/* Errors are visible; a line of information for each device is not. */
#define printk(format, ...) \
	((format)[0] == KERN_ERR[0] ? fprintf(stderr, (format) + 1, ##__VA_ARGS__) : 0)

#define kmalloc(size, flags) malloc(size)
#define krealloc(old, size, flags) realloc(old, size)
#define kfree(memory) free(memory)
#define vmalloc(size) malloc(size)
#define vfree(memory) free(memory)

#define cpu_clock(cpu) peer_now
#define local_clock() peer_now

typedef struct { int unused; } spinlock_t;
struct mutex { int unused; };

#define spin_lock_init(lock) ((void)(lock))
#define spin_trylock(lock) ((void)(lock), true)
#define spin_unlock(lock) ((void)(lock))

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define list_first_entry_or_null(head, type, member) \
	((head)->next == (head) ? NULL : \
	 (type *)((char *)(head)->next - offsetof(type, member)))

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->prev = head->prev;
	entry->next = head;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_del_init(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}

#endif
