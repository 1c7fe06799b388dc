# SPDX-License-Identifier: BSD-3-Clause
"""All transmissions in a capture, and who sent them.

Most frames name their sender. A CTS or an ACK does not: it answers an attempt of the station it is addressed to, so its
sender is the receiver of that attempt. A CTS-to-self names its sender. If no attempt is found, the stations that
received the frame, and the delays, determine the sender.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.taps.phy import Medium, at, durations_ns
from analysis.traces import dissect
from analysis.traces.capture import Capture
from analysis.traces.columns import around, begins, places
from analysis.traces.trace import Array, Kind, is_response

COPIES_WITHIN = 8  # transmissions: delays are short, so the receptions of a frame follow it closely


@dataclass(frozen=True)
class Sent:
    """All transmissions, in the order of the air, one row an MPDU. Stations are numbered from 0 in the order of their
    interfaces; -1 means none, or a group. Times are in ns. `frames` and `tcp` are their bytes."""

    row: Array  # in the capture
    number: Array  # from 1, of all transmissions on that air; equal for the MPDUs of one PPDU
    time: Array
    airtime: Array  # of the PPDU
    rate: Array
    short_preamble: Array
    freq: Array
    kind: Array
    station: Array
    receiver: Array
    frames: dissect.Frames
    tcp: dissect.Tcp

    @property
    def leads(self) -> Array:
        """Whether each is the first MPDU of its PPDU."""
        return begins(self.number)

    @property
    def end(self) -> Array:
        """The end of each transmission, ns."""
        over: Array = self.time + self.airtime
        return over


def transmissions(capture: Capture, medium: Medium) -> Sent:
    """Return all transmissions; `station` is -1 where the sender cannot be determined."""
    sent = by_addresses(capture, medium.spacing_ns, medium.signal_extension_ns)
    response = np.flatnonzero(is_response(sent.kind))
    station = sent.station.copy()
    station[response] = _responders(sent, response, medium, capture.stop_ns)
    for tx in response[station[response] < 0].tolist():
        station[tx] = _by_receivers(int(sent.row[tx]), capture, medium)
    return replace(sent, station=station)


def by_addresses(capture: Capture, spacing_ns: Array | None, signal_extension_ns: int) -> Sent:
    """Return all transmissions, with the stations that their addresses name; CTS and ACK name the receiver only. The
    times are as in Medium."""
    row = np.flatnonzero(capture.interface == 0)
    frames = dissect.Frames(capture.data, capture.frame, capture.caplen - 4 * capture.has_fcs).pick(row)
    kind, tcp = dissect.classify(frames)
    rate, short = capture.rate[row], capture.short_preamble[row]
    receiver = _stations_of(frames.address(1), capture)
    spacing = 0 if spacing_ns is None else spacing_ns[receiver]
    airtime = durations_ns(capture, row, spacing, signal_extension_ns)
    station = np.where(is_response(kind), -1, _stations_of(frames.address(2), capture))
    time, freq = capture.time_ns[row], capture.freq[row]
    number = capture.ppdu[row]
    return Sent(row, number, time, airtime, rate, short, freq, kind, station, receiver, frames, tcp)


def _stations_of(addresses: Array, capture: Capture) -> Array:
    """Return the station that has each address; -1 for a group or an unknown address."""
    return places(np.array([int.from_bytes(i.address, "big") for i in capture.interfaces[1:]], np.int64), addresses)


def _responders(sent: Sent, response: Array, medium: Medium, stop_ns: int) -> Array:
    """Return the sender of each CTS and ACK: the receiver of the attempt that it answers, or its own receiver for a
    CTS-to-self. -1 otherwise: it answers an attempt from before the start."""
    asked = sent.receiver[response]
    attempt = np.flatnonzero(~is_response(sent.kind) & (sent.station >= 0))
    if not attempt.size:
        return np.full(asked.size, -1)
    before, after = around(attempt, sent.station, sent.time, asked, sent.time[response])
    answers = _is_answer(sent, response, before, medium)
    to_self = _is_to_self(sent, response, after, medium, stop_ns)
    return np.where(answers, sent.receiver[before], np.where(to_self, asked, -1))


def _is_answer(sent: Sent, response: Array, attempt: Array, medium: Medium) -> Array:
    """Return whether each response answers its receiver's latest attempt (-1: none), which must have ended just
    before."""
    window = medium.sifs_ns + medium.slot_ns + medium.links.longest_ns
    answers: Array = (attempt >= 0) & (sent.time[response] - sent.end[attempt] <= window)
    return answers


def _is_to_self(sent: Sent, response: Array, following: Array, medium: Medium, stop_ns: int) -> Array:
    """Return whether each response is a CTS-to-self: its receiver's next attempt (-1: none) follows after a SIFS, or
    would after the stop."""
    due = sent.end[response] + medium.sifs_ns
    follows = (following >= 0) & (sent.time[following] == due)
    to_self: Array = (sent.kind[response] == Kind.CTS) & (follows | (due > stop_ns))
    return to_self


def _by_receivers(row: int, capture: Capture, medium: Medium) -> int:
    """Return the sender of a packet of `air`, from the stations that received it and their delays: the only station
    that exactly these can receive, at these delays. -1 if there is none, or more than one."""
    near = slice(row, row + COPIES_WITHIN * len(capture.interfaces))  # at most a packet on every interface for each
    copy = row + np.flatnonzero((capture.packet_id[near] == capture.packet_id[row]) & (capture.interface[near] > 0))
    heard, delay = capture.interface[copy] - 1, capture.time_ns[copy] - capture.time_ns[row]
    if not heard.size:
        return -1
    anyone = np.arange(medium.links.stations)
    power, away = medium.links.arriving(anyone[:, None], anyone, capture.time_ns[row], capture.packet_id[row])
    receives = power >= at(medium.receive_aw, anyone, capture.time_ns[row])  # by sender and receiver
    fits = receives[:, heard].all(axis=1) & (away[:, heard] == delay).all(axis=1)
    fits &= receives.sum(axis=1) == heard.size
    return int(np.flatnonzero(fits)[0]) if fits.sum() == 1 else -1
