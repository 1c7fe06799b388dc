# SPDX-License-Identifier: BSD-3-Clause
# One NewReno flow over the string of the seeds in ns-2 (2.35), under static routes, AODV or DSR, with congestion
# avoidance as slow as one likes: ns-2 adds increase_num_ / cwnd for each ACK, so 1 / (t + 1) is SCA with threshold t.
#
# Usage: ns routing.tcl STATIONS static|AODV|DSR THRESHOLD SECONDS SEED      prints: segments acknowledged, timeouts
#
# Radio, MAC and static routes are those of string.tcl, with RTS/CTS before all frames. AODV and DSR take each frame that
# the MAC gives up for a broken link, as the seeds' do.
if {[llength $argv] != 5} { puts stderr "usage: ns routing.tcl STATIONS static|AODV|DSR THRESHOLD SECONDS SEED"; exit 2 }
foreach {stations routing threshold seconds seed} $argv {}
array set agent {static DSDV AODV AODV DSR DSR}
array set queue {static Queue/DropTail/PriQueue AODV Queue/DropTail/PriQueue DSR CMUPriQueue}
if {![info exists agent($routing)]} { puts stderr "routing: static, AODV or DSR"; exit 2 }
set WARM_UP [expr {$routing eq "static" ? 300.0 : 10.0}]

ns-random $seed
foreach {name value} "dataRate_ 2Mb basicRate_ 1Mb RTSThreshold_ 0 ShortRetryLimit_ 7 LongRetryLimit_ 4" {
    Mac/802_11 set $name $value
}
Agent/DSDV set use_mac_ 0
Agent/DSDV set min_update_periods_ 1000000
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 64
Agent/TCP set minrto_ 0.2
Agent/TCP set increase_num_ [expr 1.0 / ($threshold + 1)]

set sim [new Simulator]
$sim trace-all [open /dev/null w]
set ground [new Topography]
$ground load_flatgrid [expr 200 * $stations + 200] 400
create-god $stations
$sim node-config -adhocRouting $agent($routing) -llType LL -macType Mac/802_11 -ifqType $queue($routing) -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $stations} {incr i} {
    set station($i) [$sim node]
    $station($i) set X_ [expr 100 + 200 * $i]
    $station($i) set Y_ 200
    $station($i) set Z_ 0
    if {$routing eq "static"} { $sim at [expr $WARM_UP - 50] "[$station($i) set ragent_] set perup_ 1e9" }
}

set source [new Agent/TCP/Newreno]
set sink [new Agent/TCPSink]
$sim attach-agent $station(0) $source
$sim attach-agent $station([expr $stations - 1]) $sink
$sim connect $source $sink
set transfer [new Application/FTP]
$transfer attach-agent $source
$sim at $WARM_UP "$transfer start"
$sim at [expr $WARM_UP + $seconds] {puts "acknowledged [$source set ack_] timeouts [$source set nrexmit_]"; exit 0}
$sim run
