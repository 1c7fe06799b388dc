#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A box for Vagrant's libvirt provider, of Debian's packages alone: for machines that cannot fetch one, and for tests.
# The kernel lies beside the disk and is booted directly, so that no boot loader is needed. As root.
#
# Usage: box.sh FILE.box [MIRROR]
set -eu
box=$(readlink -f "$1") mirror=${2:-http://deb.debian.org/debian}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mmdebstrap --quiet --variant=apt --include=ca-certificates,dbus,linux-image-amd64,libpam-systemd,openssh-server,python3,rsync,sudo,systemd-resolved,systemd-sysv,udev \
    --setup-hook='printf "%s\n" "deb '"$mirror"' bookworm main" "deb '"$mirror"'-security bookworm-security main" > "$1/etc/apt/sources.list"' \
    bookworm root "$mirror"
printf '[Match]\nName=en*\n[Network]\nDHCP=yes\n' > root/etc/systemd/network/all.network
chroot root systemctl -q enable systemd-networkd
printf '127.0.0.1 localhost\n' > root/etc/hosts
echo '/dev/vda / ext4 defaults 0 1' > root/etc/fstab
user=vagrant
home=/home/$user
chroot root useradd -m -s /bin/bash $user
echo "$user ALL=(ALL) NOPASSWD: ALL" > root/etc/sudoers.d/$user
mkdir -m 700 root$home/.ssh
cp /usr/share/rubygems-integration/all/gems/vagrant-*/keys/vagrant.pub root$home/.ssh/authorized_keys
chroot root chown -R $user:$user $home
echo 'UseDNS no' >> root/etc/ssh/sshd_config
[ -z "${BOX_EXTRA:-}" ] || cp -r "$BOX_EXTRA"/. root/
cp root/boot/vmlinuz-* vmlinuz
cp root/boot/initrd.img-* initrd.img
truncate -s 20G disk
mke2fs -q -t ext4 -d root disk
qemu-img convert -O qcow2 disk box.img
echo '{"provider": "libvirt", "format": "qcow2", "virtual_size": 20}' > metadata.json
cat > Vagrantfile <<'RUBY'
Vagrant.configure("2") do |config|
  config.vm.provider "libvirt" do |libvirt|
    libvirt.kernel = File.expand_path("../vmlinuz", __FILE__)
    libvirt.initrd = File.expand_path("../initrd.img", __FILE__)
    libvirt.cmd_line = "root=/dev/vda rw quiet"
  end
end
RUBY
tar -cf "$box" metadata.json Vagrantfile box.img vmlinuz initrd.img
