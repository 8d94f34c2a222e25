#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the module for arm64 by a cross compiler, for the kernel of this machine's Debian release.
# Run the module's tests in an emulated machine with Debian's packages for arm64.
#
#   arm64.tap.sh [TEST]...     default: life-cycle data crash
set -eu
. selftests/lib/tap.sh
. userspace/lab/kernels
architecture=arm64
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
. userspace/lab/foreign-apt

skip()
{
	ktap_test_skip arm64 "$1"
	ktap_finished
}

selftests/install-packages --arm64 >&2 || :
for pair in qemu-system-aarch64:qemu-system-arm aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu; do
	command -v "${pair%:*}" >/dev/null || skip "${pair#*:} is not installed"
done
pattern=$(echo "$kernel_table" | awk -v "suite=$suite" '$2 == suite { print $3 }')
[ -n "$pattern" ] || skip "$suite has no kernel that is supported"
update_lists || skip 'the package lists of arm64 cannot be fetched'
release=$(private apt-cache pkgnames linux-image- | sed -n 's/^linux-image-//p' |
	last_release "$(echo "$pattern" | sed s/amd64/arm64/)")

root=$kernel_cache/$release
if [ ! -d "$root" ]; then
	say "fetching Linux $release"
	work=$(mktemp -d "$kernel_cache/new-XXXXXX")
	fetch_packages bash btrfs-progs busybox-static coreutils dash diffutils dmsetup e2fsprogs \
		f2fs-tools findutils fio grep kmod mawk mount procps python3 sed util-linux \
		util-linux-extra xfsprogs
	headers=$(private apt-cache depends "linux-headers-$release" |
		sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p')
	# Kbuild's programs run on this machine.
	(cd "$apt/cache/archives" && for package in $headers; do
		case $package in
		*-kbuild-*) apt-get -qq -o APT::Sandbox::User=root download "$package" ;;
		*) private apt-get download "$package" ;;
		esac
	done && private apt-get download "linux-image-$release" "linux-headers-$release") >&2
	unpack_packages "$work"
	ln -sf dash "$work/usr/bin/sh"
	ln -sf mawk "$work/usr/bin/awk"
	mkdir -p "$work/dev" "$work/mnt" "$work/proc" "$work/root" "$work/run" "$work/sys" "$work/tmp"
	# shellcheck disable=SC2016 # make's
	sed -i 's|/usr/src/|$(dir $(lastword $(MAKEFILE_LIST)))../|' \
		"$work/usr/src/linux-headers-$release/Makefile"
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$work" "$release"
	chmod 755 "$work"
	mv "$work" "$root"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
share=$work/share
top=$share/top
program=$AFTL_BUILD/determinism/aarch64/approxftl
mkdir -p "$top" "$work/module"
cp -r Kbuild dm-approxftl "$work/module"
cp -r pyproject.toml selftests userspace trace-tools "$top"
cp userspace/lab/guest userspace/lab/complaints.sh "$share"

builds_silently()
{
	make -C "$root/usr/src/linux-headers-$release" "M=$work/module" ARCH=arm64 \
		CROSS_COMPILE=aarch64-linux-gnu- W=1 KCFLAGS=-g0 CONFIG_DEBUG_INFO_BTF_MODULES= \
		-j "$(nproc)" modules >"$work/log" 2>&1 && ! grep -E 'warning: |error: ' "$work/log"
}

program_builds()
{
	make -j "$(nproc)" "O=${program%/*}" CC=aarch64-linux-gnu-gcc OPT=-O2 CLI_LIBS= WERROR= \
		OBJCOPY=aarch64-linux-gnu-objcopy CFLAGS='-idirafter /usr/include' \
		LDFLAGS='-static -Wl,--unresolved-symbols=ignore-all' "$program" >"$work/log" 2>&1
}

# The second PCI serial line of the machine carries the input and output of the guest's command.
boots()
{
	mkdir "$work/initramfs"
	(cd "$work/initramfs" && mkdir bin dev layers modules near new proc)
	cp "$root/bin/busybox" "$work/initramfs/bin"
	cp userspace/lab/init "$work/initramfs"
	for module in virtio_pci 9pnet_virtio 9p overlay; do
		PATH=$PATH:/usr/sbin:/sbin modprobe -d "$root" -S "$release" --show-depends "$module"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r module; do
		name=$(basename "$module" .xz)
		xz -dcf "$module" >"$work/initramfs/modules/$name"
		echo "$name" >>"$work/initramfs/modules/order"
	done
	(cd "$work/initramfs" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/initrd"
	cp "$work/module/dm-approxftl.ko" "$program" "$share"
	cat >"$share/environment" <<-END
		export RELEASE=$release MODULES=/lib/modules/$release MODULE=/run/share/dm-approxftl.ko
		export LAB_PROGRAMS=/run/share LAB_FOLDER=/run/share/top LAB_UDEV= LAB_DISKS=0 AFTL_LAB=
		export AFTL_TOP= AFTL_BUILD=/run/share APPROXFTL=/run/share/approxftl
	END
	echo "exec selftests/kernel/run-in-kernel $*" >"$share/command"
	setpriv --pdeathsig KILL qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 2 -m 2048 \
		-display none -nodefaults -no-reboot -serial "file:$work/console" \
		-fsdev "local,id=root,path=$root,security_model=none,readonly=on,multidevs=remap" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=share,path=$share,security_model=none" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share \
		-chardev null,id=none -device pci-serial,chardev=none \
		-chardev stdio,id=line,signal=off -device pci-serial,chardev=line \
		-kernel "$root/boot/vmlinuz-$release" -initrd "$work/initrd" \
		-append 'console=ttyAMA0 quiet loglevel=1 panic=-1 oops=panic' </dev/null
	[ -s "$share/status" ] || tail -n 40 "$work/console"
	[ ! -s "$share/complaints" ] || cat "$share/complaints"
	return "$(cat "$share/status" 2>/dev/null || echo 98)"
}

ktap_test_run "the module builds silently for Linux $release" builds_silently
ktap_test_run 'the program builds' program_builds ||
	cat "$work/log"
[ $# -gt 0 ] || set -- life-cycle data crash
boots "$@" >"$work/told" || ktap_test_fail "status $? of the machine"
while read -r line; do
	case $line in
	'ok '*) ktap_test_pass "${line#*- }" ;;
	'not ok '*) ktap_test_fail "${line#*- }" ;;
	'#'*) echo "$line" ;;
	esac
done <"$work/told"
ktap_finished
