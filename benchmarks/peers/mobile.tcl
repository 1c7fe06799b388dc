# SPDX-License-Identifier: BSD-3-Clause
# One NewReno flow from the first to the second of stations that move by a setdest file, in ns-2 (2.35), over its own
# AODV, DSR or DSDV.
#
# Usage: ns mobile.tcl MOVEMENT STATIONS WIDTH HEIGHT AODV|DSR|DSDV SECONDS SEED
# prints: segments acknowledged, timeouts
if {[llength $argv] != 7} { puts stderr "usage: ns mobile.tcl MOVEMENT STATIONS WIDTH HEIGHT AODV|DSR|DSDV SECONDS SEED"; exit 2 }
foreach {movement stations width height routing seconds seed} $argv {}
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
$sim trace-all [open /dev/null w]
set ground [new Topography]
$ground load_flatgrid [expr $width + 1] [expr $height + 1]
set god_ [create-god $stations]
$sim node-config -adhocRouting $routing -llType LL -macType Mac/802_11 -ifqType $queue($routing) -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $stations} {incr i} {
    set node_($i) [$sim node]
    $node_($i) random-motion 0
}
set ns_ $sim
source $movement

set source [new Agent/TCP/Newreno]
set sink [new Agent/TCPSink]
$sim attach-agent $node_(0) $source
$sim attach-agent $node_(1) $sink
$sim connect $source $sink
set transfer [new Application/FTP]
$transfer attach-agent $source
$sim at 0.0 "$transfer start"
$sim at $seconds {puts "acknowledged [$source set ack_] timeouts [$source set nrexmit_]"; exit 0}
$sim run
