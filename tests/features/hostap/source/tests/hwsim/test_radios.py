# SPDX-License-Identifier: BSD-3-Clause
"""Tests with the interface of hostap's."""

import subprocess
from pathlib import Path

from daemons import Control, HwsimSkip, add_ap


def test_joins(dev, apdev):
    """A station joins one of two access points with one channel, of which both answer its probe request."""
    add_ap(apdev[0], ssid="one")
    ap = add_ap(apdev[1], ssid="two")
    dev[0].connect("two", 2412)
    dev[0].wait("CTRL-EVENT-CONNECTED")
    ap.wait("AP-STA-CONNECTED 02:00:00:00:00:00")


def test_listens(dev, apdev):
    """A scan without frames of its own finds what is on the channel, and nothing else."""
    add_ap(apdev[0], ssid="there", channel="6")
    assert "there" not in dev[0].scan(2412)
    assert "there" in dev[0].scan(2437)


def test_listens_while_joined(dev, apdev):
    """A station says that it sleeps, and only then leaves its channel to listen on another one."""
    add_ap(apdev[0], ssid="here")
    add_ap(apdev[1], ssid="there", channel="6")
    dev[0].connect("here", 2412)
    dev[0].wait("CTRL-EVENT-CONNECTED")
    assert "there" in dev[0].scan(2437)


def test_is_rejected(dev, apdev):
    """An access point authenticates a station, and does not let it associate."""
    add_ap(apdev[0], ssid="closed", max_listen_interval="1")
    dev[0].connect("closed", 2412)
    dev[0].wait("CTRL-EVENT-ASSOC-REJECT")


def test_two_networks(dev, apdev, params):
    """A radio has two networks, each with beacons."""
    config = Path(params["logdir"], "two.conf")
    bss = "bss={0}-2\nbssid=02:00:00:00:03:01\nctrl_interface=/var/run/hostapd\nssid=second\n"
    config.write_text(
        f"interface=wlan3\nctrl_interface=/var/run/hostapd\nssid=first\nchannel=1\nhw_mode=g\n"
        f"driver=nl80211\n{bss.format('wlan3')}"
    )
    Control("/var/run/hostapd-global").ask(f"ADD bss_config=phy3:{config}", "OK")
    found = dev[0].scan(2412)
    assert "first" in found and "second" in found


def test_switches_channel(dev, apdev):
    """An access point takes its station to another channel."""
    ap = add_ap(apdev[0], ssid="moving")
    dev[0].connect("moving", 2412)
    dev[0].wait("CTRL-EVENT-CONNECTED")
    ap.ask("CHAN_SWITCH 5 2437 ht", "OK")
    dev[0].wait("EVENT-CHANNEL-SWITCH freq=2437")
    assert "freq=2437" in dev[0].ask("STATUS")


def test_sends_keys_after_other_data(dev, apdev):
    """Data without QoS that mac80211 has queued with the priority of keys leave room for keys."""
    secret = {"wpa_passphrase": "12345678", "wpa_key_mgmt": "WPA-PSK"}
    station = Control("/var/run/wpa_supplicant/wlan0")  # without events of earlier tests
    add_ap(apdev[0], ssid="old", wpa="1", wpa_pairwise="TKIP", **secret)
    new = add_ap(apdev[1], ssid="new", wpa="2", rsn_pairwise="CCMP", **secret)
    dev[0].connect("old", 2412, "12345678")
    station.wait("CTRL-EVENT-CONNECTED")  # with its keys
    for _ in range(2):
        Path("/sys/kernel/debug/ieee80211/phy0/netdev:wlan0/tkip_mic_test").write_text("02:00:00:00:03:00")
    station.wait("reason=14")  # the access point has received both
    dev[0].connect("new", 2412, "12345678")
    new.wait("AP-STA-CONNECTED")


def test_has_programs(dev):
    """Programs of the tree are where hostap's tests look for them, and radios have the names that these expect."""
    assert Path("../../hostapd/hostapd").exists()
    assert b"wiphy 3" in subprocess.check_output(["iw", "dev", "wlan3", "info"])
    assert Path("/sys/class/ieee80211/phy3").exists()


def test_needs_more(dev):
    raise HwsimSkip("there is no moon")


def test_is_wrong(dev):
    raise Exception("two is not three")


def test_changes_type(dev):
    """An interface that is up becomes one of an ad hoc network, and back."""
    for kind in ("ibss", "managed"):
        subprocess.check_call(["iw", "dev", "wlan1", "set", "type", kind])
