# SPDX-License-Identifier: BSD-3-Clause
"""The papers' congestion controls in plain Python; tests compare the modules with them."""

from dataclasses import dataclass

# Hop count -> ca_increase_thresh (paper 003, tables 4.4 and B.1), and -> the window limit (table 4.2; none beyond 15).
DSR = {4: 42, 5: 45, 6: 39, 7: 49, 8: 47, 9: 29, 10: 48, 11: 35, 12: 10, 13: 50, 14: 25, 15: 10}
AODV = {4: 48, 5: 46, 6: 50, 7: 48, 8: 46, 9: 48, 10: 48, 11: 31, 12: 37, 13: 30, 14: 39, 15: 39}
CHEN = {1: 2, 2: 2, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 3, 11: 4, 12: 4, 13: 4, 14: 5, 15: 5}


@dataclass
class PaperTcp:
    """Paper 003, algorithms 1 and 2, ACK by ACK; a threshold of None is Reno. Windows grow in whole segments, as in
    Linux."""

    cwnd: int
    ssthresh: int
    s_thresh: int | None
    ca_thresh: int | None
    s_increase: int = 0
    ca_increase: int = 0
    counted: int = 0

    def acks(self, n):
        credits, avoiding = 0, self.cwnd >= self.ssthresh
        for _ in range(n):
            if self.cwnd < self.ssthresh:
                if self.s_thresh is None:
                    self.cwnd += 1
                elif self.s_increase == 0:
                    self.cwnd += 1
                    self.s_increase += 1
                elif self.s_increase == self.s_thresh:
                    self.s_increase = 0
                else:
                    self.s_increase += 1
            else:
                avoiding = True
                if self.ca_thresh is None:
                    credits += 1
                elif self.ca_increase == 0:
                    credits += 1
                    self.ca_increase += 1
                elif self.ca_increase == self.ca_thresh:
                    self.ca_increase = 0
                else:
                    self.ca_increase += 1
        if avoiding:  # 1/cwnd for each: one segment for each cwnd of them
            self.counted += credits
            self.cwnd, self.counted = self.cwnd + self.counted // self.cwnd, self.counted % self.cwnd
