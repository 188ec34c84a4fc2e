# shellcheck shell=bash disable=SC2154 # root, target: set by x
# Part of x test-drivers: a machine for QEMU, made of Debian's packages. They are unpacked under target/, never installed.

guest=$target/drivers
guest_programs=(busybox-static coreutils dash iproute2 ethtool openssh-server openssh-client libgcc-s1 irqbalance)
# What configures interfaces by itself, for the machines that have systemd.
guest_managers=(systemd udev dbus dbus-daemon dbus-bin dbus-system-bus-common network-manager ifupdown)
guest_modules=(
  virtio_pci virtio_console virtio_blk ext4 crc32c_generic # what the machine itself runs on
  e1000e igb vmxnet3 virtio_net                            # the cards
  veth 8021q bonding bridge pktgen sch_netem sch_tbf       # what is put between or upon them
  sch_htb sch_prio sch_sfq sch_hfsc sch_drr sch_ingress    # what a port may have that is taken and given back
  cls_u32 cls_flower cls_matchall act_gact act_mirred act_police
)

# What machines boot: target/drivers/vmlinux and target/drivers/initrd, or initrd-systemd for those that have systemd, with the
# program that was built last.
make_guest() {
  local program=$guest/program
  at_end+=(give_back)
  local contents="${guest_programs[*]} ${guest_managers[*]} ${guest_modules[*]}"
  [[ $(cat "$guest/contents" 2>/dev/null) == "$contents" ]] || fetch_guest
  rm -rf "$program"
  mkdir -p "$program/usr/bin"
  strip -o "$program/usr/bin/wireproof" "$target/debug/wireproof"
  cp "$root/tests/drivers/init" "$program/init"
  # The kernel unpacks one archive behind the other, so that a new program does not pack the whole system again.
  pack "$program" "$program.cpio"
  cat "$guest/system.cpio" "$program.cpio" >"$guest/initrd"
  cat "$guest/managers.cpio" "$guest/initrd" >"$guest/initrd-systemd"
  rm -rf "$program" "$program.cpio"
}

fetch_guest() {
  local kernel packages managers part=$target/drivers.part
  have apt-get || die "the kernel and the programs of the machines come from Debian's packages, and there is no apt-get here"
  [[ $EUID -ne 0 ]] || refresh_lists
  kernel=$(depends linux-image-amd64 | grep -m 1 '^linux-image-') ||
    die "this machine's package sources have no linux-image-amd64: test-drivers runs on Debian for amd64"
  mapfile -t packages < <(with_libraries "${guest_programs[@]}")
  mapfile -t managers < <(with_libraries "${guest_managers[@]}")
  say "Unpacking $kernel, ${guest_programs[*]} ${guest_managers[*]} and their libraries into target/drivers: the machines of the tests"
  rm -rf "$part" "$guest"
  mkdir -p "$part/debs" "$part/managers-debs"
  (cd "$part/debs" && apt_get download "$kernel" "${packages[@]}") || apt_failed "could not download ${packages[*]}"
  (cd "$part/managers-debs" && apt_get download "${managers[@]}") || apt_failed "could not download ${managers[*]}"
  unpack_system "$part/system" "$part"/debs/*.deb
  unpack_system "$part/managers" "$part"/managers-debs/*.deb
  unpack_kernel "$part" "$part/debs/$kernel"_*.deb
  pack "$part/system" "$part/system.cpio"
  pack "$part/managers" "$part/managers.cpio"
  rm -rf "$part/debs" "$part/managers-debs" "$part/system" "$part/managers" "$part/kernel"
  echo "$contents" >"$part/contents"
  mv "$part" "$guest"
}

# with_libraries PACKAGE…: these and all libraries under them, one a line
with_libraries() {
  local packages=("$@") more=("$@")
  while [[ ${#more[@]} -gt 0 ]]; do
    # All else that a package depends on is for its installation.
    mapfile -t more < <(depends "${more[@]}" | grep -xE 'lib.*|zlib1g' | sort -u | grep -vxF "${packages[@]/#/-e}")
    packages+=("${more[@]}")
  done
  printf '%s\n' "${packages[@]}"
}

# unpack_system DIRECTORY PACKAGE…: programs and libraries, without what is only read by people, and other character sets
unpack_system() {
  local directory=$1 name
  local left_out=(./var './usr/lib/*/gconv' ./usr/share/{doc,man,info,locale,bash-completion,zsh,lintian,bug,pkgconfig,initramfs-tools})
  shift
  for name in bin sbin lib lib64; do
    mkdir -p "$directory/usr/$name"
    ln -s "usr/$name" "$directory/$name"
  done
  for name in "$@"; do
    [[ $name != */linux-image-* ]] || continue
    dpkg-deb --fsys-tarfile "$name" |
      tar -x -C "$directory" --keep-directory-symlink --no-same-owner "${left_out[@]/#/--exclude=}"
  done
}

# unpack_kernel PART PACKAGE: PART/vmlinux, and in PART/system the modules that are wanted with all that they need
unpack_kernel() {
  local kernel=$1/kernel wanted=("${guest_modules[@]}") name file place more
  local -A taken=()
  mkdir -p "$kernel"
  dpkg-deb --fsys-tarfile "$2" | tar -x -C "$kernel" --no-same-owner
  unpack_image "$kernel"/boot/vmlinuz-* >"$1/vmlinux"
  while [[ ${#wanted[@]} -gt 0 ]]; do
    name=${wanted[0]} wanted=("${wanted[@]:1}")
    [[ -z ${taken[$name]:-} ]] || continue
    taken[$name]=yes
    file=$(find "$kernel/lib/modules" -name "${name//[-_]/[-_]}.ko*" -print -quit)
    [[ -n $file ]] || die "$2 has no module $name"
    [[ $file != *.xz ]] || { xz --decompress "$file" && file=${file%.xz}; }
    place=$1/system/${file#"$kernel/"}
    mkdir -p "${place%/*}"
    cp "$file" "$place"
    IFS=, read -r -a more < <(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p') || true
    wanted+=("${more[@]}")
  done
  "$1/system/bin/busybox" depmod -b "$1/system" "$(cd "$kernel/lib/modules" && echo *)"
}

# unpack_image FILE: the kernel in it, which an emulated processor would take seconds to unpack each time. The places are those
# of the kernel's Documentation/arch/x86/boot.rst: setup_sects, payload_offset and payload_length, with 4 bytes behind the payload.
unpack_image() {
  local offset=$((($(number 1 0x1f1 "$1") + 1) * 512 + $(number 4 0x248 "$1")))
  local length=$(($(number 4 0x24c "$1") - 4))
  dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip=$offset count=$length status=none | xz --decompress ||
    die "$1 is not packed by xz, as Debian's kernels are"
}

# number BYTES OFFSET FILE
number() { od -A n -t "u$1" -N "$1" -j "$2" "$3" | tr -d ' '; }

# pack DIRECTORY FILE: as the kernel reads it; everything in it belongs to root
pack() { (cd "$1" && find . -mindepth 1 | cpio --quiet --create --format=newc --owner=+0:+0 >"$2"); }
