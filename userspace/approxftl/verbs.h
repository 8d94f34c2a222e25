/* SPDX-License-Identifier: GPL-2.0-only */
/* Verbs of this program; verb "sim" is in another directory. */
#ifndef AFTL_VERBS_H
#define AFTL_VERBS_H

#include "device-verbs.h"

extern const struct device_verb verb_params;
extern const struct device_verb verb_profiles;
extern const struct device_verb verb_policies;
extern const struct device_verb verb_create;
extern const struct device_verb verb_list;
extern const struct device_verb verb_status;
extern const struct device_verb verb_stat;
extern const struct device_verb verb_top;
extern const struct device_verb verb_health;
extern const struct device_verb verb_message;
extern const struct device_verb verb_fault;
extern const struct device_verb verb_remove;
extern const struct device_verb verb_serve;
extern const struct device_verb verb_doctor;
extern const struct device_verb verb_format;
extern const struct device_verb verb_check;
extern const struct device_verb verb_dump;

/* The second-level verbs of "approxftl tag". */
enum exit_code tag_main(int argc, char **argv);

#endif
