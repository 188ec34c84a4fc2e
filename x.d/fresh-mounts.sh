#!/usr/bin/env bash
# Part of x test-fresh: runs in namespaces of its own, makes directory $1 the root of the file system.
set -euo pipefail

# pivot_root, not chroot: the kernel makes no user namespaces for a process in a chroot (user_namespaces(7)), and
# wireproof without root needs one.
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
pivot_root . mnt
cd /
umount --lazy /mnt
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash /fresh-inside.sh
