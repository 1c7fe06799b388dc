# SPDX-License-Identifier: BSD-3-Clause
"""The modules of studies, their own files in user space: plain_reno ends a recovery with the first new ACK, and
count_acks has the window grow by ACKs."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from user_space import compile_library

from traffic import tcp

ROOT = Path(__file__).parents[2]
KERNEL = """
#include <stdint.h>
typedef uint32_t u32;
typedef int32_t s32;
#define __init
#define __exit
#define __read_mostly
#define THIS_MODULE 0
#define module_init(f) int (*module_began)(void) = f;
#define module_exit(f) void (*module_ended)(void) = f;
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define before(a, b) ((s32)((a) - (b)) < 0)
#define min(a, b) ((a) < (b) ? (a) : (b))
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
struct ack_sample { u32 pkts_acked; s32 rtt_us; u32 in_flight; };
struct tcp_sock { u32 icsk_ca_state, snd_una, high_seq; };
struct sock { struct tcp_sock tcp; };
struct tcp_congestion_ops {
    u32 (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
    u32 (*undo_cwnd)(struct sock *sk);
    void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
    void *owner;
    const char *name;
};
static inline struct tcp_sock *tcp_sk(struct sock *sk) { return &sk->tcp; }
static inline struct tcp_sock *inet_csk(struct sock *sk) { return &sk->tcp; }
static inline u32 tcp_reno_ssthresh(struct sock *sk) { return 2; }
static u32 counted;
static inline void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) { counted += acked; }
static inline u32 tcp_reno_undo_cwnd(struct sock *sk) { return 2; }
static struct tcp_congestion_ops *registered;
static inline int tcp_register_congestion_control(struct tcp_congestion_ops *ops) { registered = ops; return 0; }
static inline void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops) { registered = 0; }
"""
PLAIN_RENO = """
#include "tcp_plain_reno.c"
u32 end_of_recovery(u32 state, u32 snd_una, u32 high_seq, u32 acked)
{
    struct sock sk = { .tcp = { state, snd_una, high_seq } };
    struct ack_sample sample = { .pkts_acked = acked };

    module_began();
    registered->pkts_acked(&sk, &sample);
    module_ended();
    return sk.tcp.high_seq;
}
"""
COUNT_ACKS = """
#include "tcp_count_acks.c"
u32 counts_as(u32 acked)
{
    struct sock sk = { };

    counted = 0;
    module_began();
    registered->cong_avoid(&sk, 0, acked);
    module_ended();
    return counted;
}
"""
OPEN, RECOVERY, LOSS = 0, 3, 4


def library(name: str, driver: str, folder: Path) -> ctypes.CDLL:
    """Compile a module with a driver against stubs of the kernel."""
    for header, text in (("linux/module.h", ""), ("net/tcp.h", KERNEL)):
        (folder / header).parent.mkdir()
        (folder / header).write_text(text)
    (folder / "driver.c").write_text(driver)
    folders = [f"-I{folder}", f"-I{ROOT / 'experiments' / name}"]
    compile_library("DCF_SANITIZE", [*folders, str(folder / "driver.c"), "-o", str(folder / "driver.so")])
    return ctypes.CDLL(str(folder / "driver.so"))


@pytest.fixture(scope="module")
def plain_reno(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library("plain_reno", PLAIN_RENO, tmp_path_factory.mktemp("plain_reno"))


@pytest.mark.parametrize(
    ("state", "una", "end", "acked", "wanted"),
    [
        (RECOVERY, 5000, 9000, 1, 4999),  # a partial ACK: the kernel sees that snd_una is beyond the end
        (RECOVERY, 5, 0xFFFFFFF0, 1, 0xFFFFFFF0),  # beyond the end of the window, across zero
        (RECOVERY, 0, 9000, 1, 0xFFFFFFFF),
        (RECOVERY, 9000, 9000, 1, 9000),  # all that was outstanding
        (RECOVERY, 5000, 9000, 0, 9000),  # a duplicate
        (OPEN, 5000, 9000, 1, 9000),
        (LOSS, 5000, 9000, 1, 9000),  # after a timeout slow start goes on
    ],
)
def test_a_partial_ack_ends_the_recovery(
    plain_reno: ctypes.CDLL, state: int, una: int, end: int, acked: int, wanted: int
) -> None:
    given = (ctypes.c_uint32(of) for of in (state, una, end, acked))
    assert plain_reno.end_of_recovery(*given) & 0xFFFFFFFF == wanted


def test_an_ack_counts_once_however_many_segments_it_acknowledges(tmp_path: Path) -> None:
    module = library("count_acks", COUNT_ACKS, tmp_path)
    assert [module.counts_as(acked) for acked in (0, 1, 2, 40)] == [0, 1, 1, 1]


@pytest.mark.parametrize("name", tcp.OF_STUDIES)
def test_their_flows_have_the_switches_of_the_studies_newreno(name: str) -> None:
    assert tcp.find(name).sysctl == tcp.find("newreno").sysctl != tcp.find("other:x").sysctl
