#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run every job file in fio-profiles/ on a device, and one on a file.
set -u
cd "$(dirname "$0")/../.." || exit 1
. selftests/kernel/lib.sh

create aftl-jobs ram $small || exit 1

runs()
(
	job=$PWD/fio-profiles/$1.fio
	cd "$scratch" && TARGET=$2 SIZE=$3 fio --output="$scratch/fio" "$job" && return
	sed 's/^/# /' "$scratch/fio"
	return 1
)

for profile in fio-profiles/*.fio; do
	name=$(basename "$profile" .fio)
	ktap_test_run "$name on a device" runs "$name" /dev/mapper/aftl-jobs 1m
done
# /dev/shm does not support O_DIRECT, so fio's file is on a file system of the device.
mkfs.ext4 -q -F /dev/mapper/aftl-jobs && mkdir "$scratch/mounted" &&
	mount /dev/mapper/aftl-jobs "$scratch/mounted"
ktap_test_run 'the job verify runs on a file' runs verify "$scratch/mounted/file" 1m
umount "$scratch/mounted"
finished
