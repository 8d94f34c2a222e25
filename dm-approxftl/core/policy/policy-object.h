/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy as a shared object, which "approxftl sim --policy ./mine.so" loads. */
#ifndef AFTL_POLICY_OBJECT_H
#define AFTL_POLICY_OBJECT_H

#include "core/policy/ftl-policy.h"

/* Increment this if the contract of policies changes in a way that no size below shows. */
#define AFTL_POLICY_ABI 1

#define AFTL_POLICY_SYMBOL "aftl_exported_policy"

/**
 * struct aftl_policy_object - the symbol that a shared object exports
 * @abi: AFTL_POLICY_ABI of the headers that it was compiled with
 * @type_bytes: size of struct aftl_policy_type
 * @config_bytes: size of struct aftl_config, which grows with each new parameter
 * @block_bytes: size of struct aftl_block
 * @type: the policy, of either layer
 */
struct aftl_policy_object {
	u32 abi;
	u32 type_bytes;
	u32 config_bytes;
	u32 block_bytes;
	const struct aftl_policy_type *type;
};

/* Export the policy type @policy_type, once in each object. */
#define AFTL_EXPORT_POLICY(policy_type)					\
	extern const struct aftl_policy_object aftl_exported_policy;	\
	const struct aftl_policy_object aftl_exported_policy		\
	__attribute__((visibility("default"))) = {			\
		.abi = AFTL_POLICY_ABI,					\
		.type_bytes = sizeof(struct aftl_policy_type),		\
		.config_bytes = sizeof(struct aftl_config),		\
		.block_bytes = sizeof(struct aftl_block),		\
		.type = &(policy_type),					\
	}

#endif
