# SPDX-License-Identifier: BSD-3-Clause
# Stations that move by a setdest file in ns-2 (2.35), over its own AODV, DSR or DSDV: one NewReno flow from the first to
# the second, without end or of so many SEGMENTS; or light datagrams, which do not adapt, between the first ten, from odd
# to even. With a TRACE from 20 s on.
#
# Usage: ns mobile.tcl MOVEMENT STATIONS WIDTH HEIGHT AODV|DSR|DSDV SECONDS SEED [tcp|cbr TRACE|SEGMENTS]
# prints, of the flow: segments acknowledged, timeouts. TRACE gets what agents and routing do.
if {[llength $argv] ni {7 8 9}} {
    puts stderr "usage: ns mobile.tcl MOVEMENT STATIONS WIDTH HEIGHT AODV|DSR|DSDV SECONDS SEED \[tcp|cbr TRACE|SEGMENTS\]"
    exit 2
}
set segments -1
if {[llength $argv] == 8} { set segments [lindex $argv 7]; set argv [lrange $argv 0 6] }
foreach {movement stations width height routing seconds seed traffic path} [concat $argv {tcp /dev/null}] break
array set queue {DSDV Queue/DropTail/PriQueue AODV Queue/DropTail/PriQueue DSR CMUPriQueue}
if {![info exists queue($routing)]} { puts stderr "routing: AODV, DSR or DSDV"; exit 2 }

ns-random $seed
foreach {name value} "dataRate_ 2Mb basicRate_ 1Mb RTSThreshold_ 0 ShortRetryLimit_ 7 LongRetryLimit_ 4" {
    Mac/802_11 set $name $value
}
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 64
Agent/TCP set minrto_ 0.2

set sim [new Simulator]
set trace [open $path w]
$sim trace-all $trace
set told [expr {$path eq "/dev/null" ? "OFF" : "ON"}]
set from [expr {[llength $argv] == 7 ? 0 : 20}]
set ground [new Topography]
$ground load_flatgrid [expr $width + 1] [expr $height + 1]
set god_ [create-god $stations]
$sim node-config -adhocRouting $routing -llType LL -macType Mac/802_11 -ifqType $queue($routing) -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace $told -routerTrace $told -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $stations} {incr i} {
    set node_($i) [$sim node]
    $node_($i) random-motion 0
}
set ns_ $sim
source $movement

if {$traffic eq "tcp"} {
    set source [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $sim attach-agent $node_(0) $source
    $sim attach-agent $node_(1) $sink
    $sim connect $source $sink
    set transfer [new Application/FTP]
    $transfer attach-agent $source
    $sim at $from "$transfer [expr {$segments < 0 ? "start" : "produce $segments"}]"
} else {
    for {set pair 0} {$pair < 5} {incr pair} {
        set source [new Agent/UDP]
        set sink [new Agent/Null]
        $sim attach-agent $node_([expr 2 * $pair]) $source
        $sim attach-agent $node_([expr 2 * $pair + 1]) $sink
        $sim connect $source $sink
        set transfer [new Application/Traffic/CBR]
        $transfer set packetSize_ 512
        $transfer set interval_ 0.25
        $transfer attach-agent $source
        $sim at [expr $from + 0.05 * $pair] "$transfer start"
    }
}
$sim at $seconds {
    if {$traffic eq "tcp"} { puts "acknowledged [$source set ack_] timeouts [$source set nrexmit_]" }
    $sim flush-trace
    exit 0
}
$sim run
