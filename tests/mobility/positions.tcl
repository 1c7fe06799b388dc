# SPDX-License-Identifier: BSD-3-Clause
# Where ns-2 (2.35) has the nodes of a movement file, every STEP seconds. Prints: time, node, x, y, z
#
# Usage: ns positions.tcl FILE NODES WIDTH HEIGHT SECONDS STEP
foreach {file nodes width height seconds step} $argv {}
set ns_ [new Simulator]
$ns_ trace-all [open /dev/null w]
set ground [new Topography]
$ground load_flatgrid $width $height
set god_ [create-god $nodes]
$ns_ node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $nodes} {incr i} { set node_($i) [$ns_ node] }
source $file
proc sample {at} {
    global node_ nodes
    for {set i 0} {$i < $nodes} {incr i} {
        $node_($i) log-movement ;# which finds out where it is
        puts "at $at $i [$node_($i) set X_] [$node_($i) set Y_] [$node_($i) set Z_]"
    }
}
for {set at $step} {$at < $seconds} {set at [expr $at + $step]} { $ns_ at $at "sample $at" }
$ns_ at $seconds {exit 0}
$ns_ run
