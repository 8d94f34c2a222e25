/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission of host writes; private to core/hif. */
#ifndef AFTL_HOST_WRITE_H
#define AFTL_HOST_WRITE_H

#include "core/base/types.h"

struct aftl;
struct aftl_request;

bool aftl_write_admit_request(struct aftl *ftl, struct aftl_request *request);
void aftl_write_choose_stream(struct aftl *ftl, struct aftl_request *request);

#endif
