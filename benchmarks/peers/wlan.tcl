# SPDX-License-Identifier: BSD-3-Clause
# The WLAN of seed 004 in ns-2 (2.35): one transfer from a station over a base station to a host behind 2 ms of wire.
#
# Usage: ns wlan.tcl Newreno|Reno MIN_RTO BYTES RETRIES SEED
#
# 11 Mb/s data, 1 Mb/s control frames, no RTS/CTS, queues of 50, segments of 1000 B, a window limit beyond what is ever
# reached. RETRIES: no, each frame is tried once; yes, 7 and 4 times. Headers of TCP and IP count 24 B, as in string.tcl
# with frames of Linux's length. Prints how long the transfer took, and how often the retransmission timer expired.
set WARM_UP 50.0
if {[llength $argv] != 5} { puts stderr "usage: ns wlan.tcl Newreno|Reno MIN_RTO BYTES no|yes SEED"; exit 2 }
lassign $argv agent least bytes retries seed
set segments [expr ($bytes + 999) / 1000]

ns-random $seed
set limits [expr {$retries ? {7 4} : {1 1}}]
foreach {name value} "dataRate_ 11Mb basicRate_ 1Mb RTSThreshold_ 3000 ShortRetryLimit_ [lindex $limits 0]
        LongRetryLimit_ [lindex $limits 1]" {
    Mac/802_11 set $name $value
}
Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 100000
Agent/TCP set minrto_ $least
Agent/TCP set tcpip_base_hdr_size_ 24
Agent/TCPSink set packetSize_ 24

set sim [new Simulator]
$sim node-config -addressType hierarchical
AddrParams set domain_num_ 2
AddrParams set cluster_num_ {1 1}
AddrParams set nodes_num_ {1 2}
$sim trace-all [open /dev/null w]
set ground [new Topography]
$ground load_flatgrid 500 500
create-god 2

set host [$sim node 0.0.0]
$sim node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground -wiredRouting ON \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
set base [$sim node 1.0.0]
$base random-motion 0
$sim node-config -wiredRouting OFF
set station [$sim node 1.0.1]
$station random-motion 0
$station base-station [AddrParams addr2id [$base node-addr]]
foreach {node x} [list $base 100 $station 120] { $node set X_ $x; $node set Y_ 100; $node set Z_ 0 }
$sim duplex-link $host $base 100Mb 2ms DropTail

set source [new Agent/TCP/$agent]
set sink [new Agent/TCPSink]
set transfer [new Application/FTP]
$sim attach-agent $station $source
$sim attach-agent $host $sink
$sim connect $source $sink
$transfer attach-agent $source
proc look {} {
    global sim source segments WARM_UP
    if {[$source set ack_] >= $segments - 1 || [$sim now] - $WARM_UP >= 1000} {
        set took [expr [$sim now] - $WARM_UP]
        puts "acknowledged [expr [$source set ack_] + 1] seconds $took timeouts [$source set nrexmit_]"
        exit 0
    }
    $sim at [expr [$sim now] + 0.001] look
}
$sim at $WARM_UP "$transfer produce $segments; look"
$sim run
