// SPDX-License-Identifier: BSD-3-Clause
/*
 * Saturated aggregates in ns-3 (3.37), a peer for dcflab's: stations around a sink, all of which hear each other, send
 * MPDUs of 1526 bytes to it in best effort (AIFSN 3, CW 15 to 1023, no TXOP, no RTS). A-MPDUs are as long as bytes, time
 * and a block-ACK window let them. It prints how many MPDUs a second the sink received, from two seconds on.
 *
 * Build:  g++ -O2 -o aggregates-ns3 aggregates.cc -lns3-{wifi,network,propagation,mobility,core}
 * Usage:  aggregates-ns3 --format=ht|vht|he --mcs=7 --streams=1 --width=20 --guard=800 --window=64 --stations=5
 *                        --interval=100000 --seconds=2 --seed=1
 *
 * Each station makes a packet each `interval` ns. No block-ACK request is sent, and nothing given up in less than 255
 * attempts. MCS of HT count from 0 for each number of streams.
 */
#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    const uint32_t body = 1526 - 4 - 26 - 8;
    std::string format = "ht";
    uint32_t mcs = 7, streams = 1, width = 20, guard = 800, window = 64, stations = 5, interval = 100000, seed = 1;
    double seconds = 2;
    CommandLine command(__FILE__);
    command.AddValue("format", "ht, vht or he", format);
    command.AddValue("mcs", "MCS", mcs);
    command.AddValue("streams", "spatial streams", streams);
    command.AddValue("width", "MHz", width);
    command.AddValue("guard", "guard interval, ns", guard);
    command.AddValue("window", "MPDUs in an A-MPDU at most, 64 or 256", window);
    command.AddValue("stations", "how many send", stations);
    command.AddValue("interval", "ns between two packets of one", interval);
    command.AddValue("seconds", "simulated seconds", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(255));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(255));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(4 * window) + "p"));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
    Config::SetDefault("ns3::HeConfiguration::MpduBufferSize", UintegerValue(window));
    Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(format == "he" ? guard : 3200)));
    Config::SetDefault("ns3::HtConfiguration::ShortGuardIntervalSupported", BooleanValue(guard == 400));

    NodeContainer nodes(stations + 1); // the sink is the last
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(0), "DeltaY", DoubleValue(0));
    mobility.Install(nodes);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-40));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    WifiHelper wifi;
    const bool ht = format == "ht", vht = format == "vht";
    wifi.SetStandard(ht ? WIFI_STANDARD_80211n : vht ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211ax);
    const std::string mode = ht    ? "HtMcs" + std::to_string(mcs + 8 * (streams - 1))
                             : vht ? "VhtMcs" + std::to_string(mcs)
                                   : "HeMcs" + std::to_string(mcs);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true), "BE_MaxAmpduSize",
                UintegerValue(ht ? 65535 : vht ? 1048575 : 6500631));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    PacketSocketHelper().Install(nodes);
    uint64_t received = 0;
    PacketSocketAddress address;
    address.SetSingleDevice(devices.Get(stations)->GetIfIndex());
    address.SetPhysicalAddress(devices.Get(stations)->GetAddress());
    address.SetProtocol(1);
    Ptr<PacketSocketServer> server = CreateObject<PacketSocketServer>();
    server->SetLocal(address);
    nodes.Get(stations)->AddApplication(server);
    server->TraceConnectWithoutContext("Rx", Callback<void, Ptr<const Packet>, const Address&>(
                                                 std::function<void(Ptr<const Packet>, const Address&)>(
                                                     [&received](Ptr<const Packet>, const Address&) {
                                                         received += Simulator::Now() >= Seconds(2);
                                                     })));
    for (uint32_t i = 0; i < stations; i++)
    {
        address.SetSingleDevice(devices.Get(i)->GetIfIndex());
        Ptr<PacketSocketClient> client = CreateObject<PacketSocketClient>();
        client->SetAttribute("PacketSize", UintegerValue(body));
        client->SetAttribute("MaxPackets", UintegerValue(0));
        client->SetAttribute("Interval", TimeValue(NanoSeconds(interval)));
        client->SetAttribute("Priority", UintegerValue(0));
        client->SetRemote(address);
        client->SetStartTime(Seconds(0.5) + MicroSeconds(10 * i));
        nodes.Get(i)->AddApplication(client);
    }
    Simulator::Stop(Seconds(seconds + 2));
    Simulator::Run();
    std::cout << received / seconds << std::endl;
    Simulator::Destroy();
}
