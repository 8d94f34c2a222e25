/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replace lockdep's assertions in kernels without it by a check that some task holds the lock.
 * For tests, build-module includes this file before all others. Assertions in kernel headers use
 * these checks, too. In a kernel without SMP a spinlock does nothing but disable preemption.
 */
#ifndef CONFIG_LOCKDEP
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

static inline bool aftl_lock_is_held(const void *lock, bool spins, bool sleeps)
{
	if (spins)
		return IS_ENABLED(CONFIG_SMP) ? spin_is_locked((spinlock_t *)lock) : !preemptible();
	return !sleeps || mutex_is_locked((struct mutex *)lock);
}

#define aftl_is_a(lock, type) __builtin_types_compatible_p(typeof(*(lock)), type)

#undef lockdep_assert_held
#define lockdep_assert_held(lock)								\
	WARN_ON_ONCE(!aftl_lock_is_held(lock, aftl_is_a(lock, spinlock_t),			\
					aftl_is_a(lock, struct mutex)))
#endif
