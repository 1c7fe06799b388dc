#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Vagrantfile for real: a VM of a box by plain emulation comes up, plays a run in the virtual lane and one on its own
# kernel, and is destroyed. As root, with libvirt running. Some twenty minutes.
#
# Usage: up.sh FILE.box [PACKAGE.deb]
set -eu
box=$(readlink -f "$1")
here=$(readlink -f "$0")
work=$(mktemp -d)
chmod 755 "$work" # the emulator, who is another user, reads the kernel in the box
export VAGRANT_HOME="$work/home" VAGRANT_DEFAULT_PROVIDER=libvirt
export DCFLAB_BOX=dcflab-test DCFLAB_DRIVER=qemu DCFLAB_EXTRA= DCFLAB_MEMORY=2048
git clone -q "${here%/tests/vagrant/up.sh}" "$work/dcflab"
[ -z "${2:-}" ] || cp "$2" "$work/dcflab/"
cd "$work/dcflab"
clean() {
    vagrant destroy -f
    vagrant box remove -f dcflab-test
    for volume in $(virsh -q vol-list default | awk '/dcflab-test_/ { print $1 }'); do # which the plug-in leaves
        virsh -q vol-delete --pool default "$volume"
    done
    rm -rf "$work"
}
trap clean EXIT
vagrant box add --name dcflab-test "$box"
vagrant up
vagrant ssh -c 'set -e; cd /vagrant; uname -r; /sbin/modinfo -n dcf80211 tcp_sca manet; ./dcflab run rts-cts --seconds 5 | tail -1'
vagrant ssh -c 'cd /vagrant; sudo ./dcflab run string --stations 3 --seconds 5 --lane host --allow-late | tail -3'
