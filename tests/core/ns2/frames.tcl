# SPDX-License-Identifier: BSD-3-Clause
# What each station of a small network sends in ns-2 (2.35), frame by frame, and the random numbers that its MAC draws.
#
# Usage: ns frames.tcl SEED RTS_THRESHOLD "X Y X Y ..." "SOURCE DESTINATION BYTES START INTERVAL COUNT ..." TRACE
#
# A first packet of each flow has ARP over with; the measured ones come from 0.4 s on, and with them the generator starts
# anew. Prints what it draws. The stations drift apart by centimetres, so that a signal never arrives in the very instant in
# which a slot ends: ns-2 counts whole slots in floating point, and would count such a slot or not by its rounding.
foreach {seed threshold places flows path} $argv {}
ns-random $seed
for {set i 0} {$i < 4000} {incr i} { puts [ns-random] }

foreach {name value} "dataRate_ 2Mb basicRate_ 1Mb RTSThreshold_ $threshold ShortRetryLimit_ 3 LongRetryLimit_ 3" {
    Mac/802_11 set $name $value
}
set sim [new Simulator]
$sim trace-all [open $path w]
set ground [new Topography]
$ground load_flatgrid 9000 9000
create-god [expr [llength $places] / 2]
$sim node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 1000 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace OFF -routerTrace OFF -macTrace ON -movementTrace OFF
set i 0
foreach {x y} $places {
    set station($i) [$sim node]
    $station($i) set X_ $x
    $station($i) set Y_ $y
    $station($i) set Z_ 0
    # An expansion of 0.025 % a second, from where x and y are 0.
    $sim at 0.39 "$station($i) setdest [expr 2 * $x] [expr 2 * $y] [expr 0.00025 * hypot($x, $y)]"
    incr i
}
set first 0.01
foreach {from to bytes start interval count} $flows {
    foreach {begin packets} "$first 1 [expr 0.4 + $start] $count" {
        set udp [new Agent/UDP]
        set sink [new Agent/Null]
        $udp set packetSize_ 2000
        $sim attach-agent $station($from) $udp
        $sim attach-agent $station($to) $sink
        $sim connect $udp $sink
        set source [new Application/Traffic/CBR]
        $source set packetSize_ $bytes
        $source set interval_ $interval
        $source set random_ 0
        $source set maxpkts_ $packets
        $source attach-agent $udp
        $sim at $begin "$source start"
    }
    set first [expr $first + 0.01]
}
$sim at 0.39 "ns-random $seed"
$sim at 10 "$sim flush-trace; exit 0"
$sim run
