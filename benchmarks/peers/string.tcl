# SPDX-License-Identifier: BSD-3-Clause
# The string of the seeds in ns-2 (2.35), as a peer for dcflab: one TCP flow end to end under static routes.
#
# Usage: ns string.tcl STATIONS full|partial|none plain|delayed|cbr SECONDS SEED TRACE [HEADERS [AGENT [MIN_RTO]]]
#        then: count.py TRACE STATIONS SECONDS
#
# cbr: datagrams of 1460 B each 6 ms, which is more than the string carries, instead of TCP. HEADERS: what the agents count
# for TCP and IP, 40 by default; as routing adds another 20, and the MAC's header is 4 shorter, 24 gives frames of Linux's length.
# AGENT: Newreno, the default, or Reno, or another of ns-2's; MIN_RTO: its least retransmission timeout, 0.2 s by default.
# At its end it prints how often the retransmission timer expired.
#
# 200 m between stations, two-ray ground with ns-2's own ranges (250 m reception, 550 m carrier sense, 10 dB capture),
# 2 Mb/s data, 1 Mb/s control frames, retry limits 7 and 4, a drop-tail queue of 50, 1460 B segments, window limit 64.
#
# ns-2 has no static routing for wireless nodes. DSDV stands in for it: it ignores the MAC's failures (use_mac_ 0), it
# is given time to converge, and then its updates stop and its entries never time out. The flow starts after that.
set WARM_UP 300.0
if {[llength $argv] ni {6 7 8 9}} {
    puts stderr "usage: ns string.tcl STATIONS full|partial|none plain|delayed|cbr SECONDS SEED TRACE \[HEADERS\
        \[AGENT \[MIN_RTO\]\]\]"
    exit 2
}
lassign [concat $argv [lrange {40 Newreno 0.2} [expr [llength $argv] - 6] end]] \
    stations rts ack seconds seed path headers agent least
array set threshold {full 0 partial 400 none 3000}
if {![info exists threshold($rts)]} { puts stderr "rts: full, partial or none"; exit 2 }

ns-random $seed
foreach {name value} "dataRate_ 2Mb basicRate_ 1Mb RTSThreshold_ $threshold($rts) ShortRetryLimit_ 7 LongRetryLimit_ 4" {
    Mac/802_11 set $name $value
}
Agent/DSDV set use_mac_ 0
Agent/DSDV set min_update_periods_ 1000000
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 64
Agent/TCP set minrto_ $least
Agent/TCP set tcpip_base_hdr_size_ $headers
Agent/TCPSink set packetSize_ $headers

set sim [new Simulator]
set trace [open $path w]
$sim trace-all $trace
set ground [new Topography]
$ground load_flatgrid [expr 200 * $stations + 200] 400
create-god $stations
$sim node-config -adhocRouting DSDV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace ON -routerTrace OFF -macTrace ON -movementTrace OFF
for {set i 0} {$i < $stations} {incr i} {
    set station($i) [$sim node]
    $station($i) set X_ [expr 100 + 200 * $i]
    $station($i) set Y_ 200
    $station($i) set Z_ 0
    $sim at [expr $WARM_UP - 50] "[$station($i) set ragent_] set perup_ 1e9"
}

set last [expr $stations - 1]
if {$ack eq "cbr"} {
    set source [new Agent/UDP]
    set sink [new Agent/Null]
    set transfer [new Application/Traffic/CBR]
    $source set packetSize_ 1460
    $transfer set packetSize_ 1460
    $transfer set interval_ 0.006
} else {
    set source [new Agent/TCP/$agent]
    set sink [expr {$ack eq "delayed" ? [new Agent/TCPSink/DelAck] : [new Agent/TCPSink]}]
    set transfer [new Application/FTP]
}
$sim attach-agent $station(0) $source
$sim attach-agent $station($last) $sink
$sim connect $source $sink
$transfer attach-agent $source
$sim at $WARM_UP "$transfer start"
$sim at [expr $WARM_UP + $seconds] {
    if {$ack ne "cbr"} { puts "timeouts [$source set nrexmit_]" }
    $sim flush-trace
    exit 0
}
$sim run
