// SPDX-License-Identifier: BSD-3-Clause
/*
 * Saturated aggregates in ns-3 (3.37), a peer for dcflab's: stations around a sink, all of which hear each other, send
 * MPDUs of 1526 bytes to it in best effort (AIFSN 3, CW 15 to 1023, no TXOP, no RTS). A-MPDUs are as long as bytes, time
 * and a block-ACK window let them. It prints how many MPDUs a second were acknowledged.
 *
 * The load is fixed and closed: two block-ACK windows of MPDUs wait at each station, and one that has ended is replaced
 * at once. A load of so many packets a second would leave some queues empty at times, as shares vary over seconds; one
 * that never does would make mostly packets for full queues. test_ppdu_theory.py loads dcflab's core in the same way.
 *
 * Block-ACK agreements are made one station after the other, before the load begins; with --agree=under-load they are
 * made when it begins. The first second under load is not counted.
 *
 * Build:  g++ -O2 -o aggregates-ns3 aggregates.cc -lns3-{wifi,network,propagation,mobility,core}
 * Usage:  aggregates-ns3 --format=ht|vht|he --mcs=7 --streams=1 --width=20 --guard=800 --window=64 --stations=5
 *                        --seconds=2 --seed=1 --loss=0 --agree=before|under-load
 *
 * Under load the sink loses an MPDU with the probability `loss`. No block-ACK request is sent, and nothing is given up in
 * less than 255 attempts. MCS of HT count from 0 for each number of streams.
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
    std::string format = "ht", agree = "before";
    uint32_t mcs = 7, streams = 1, width = 20, guard = 800, window = 64, stations = 5, seed = 1;
    double seconds = 2, loss = 0;
    CommandLine command(__FILE__);
    command.AddValue("format", "ht, vht or he", format);
    command.AddValue("mcs", "MCS", mcs);
    command.AddValue("streams", "spatial streams", streams);
    command.AddValue("width", "MHz", width);
    command.AddValue("guard", "guard interval, ns", guard);
    command.AddValue("window", "MPDUs in an A-MPDU at most, 64 or 256", window);
    command.AddValue("stations", "how many send", stations);
    command.AddValue("loss", "probability that the sink loses an MPDU", loss);
    command.AddValue("agree", "when agreements are made: before the load begins, or under-load", agree);
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
    const Time loaded = Seconds(0.5), counted = Seconds(1.5);
    Ptr<RateErrorModel> losses = CreateObject<RateErrorModel>();
    losses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    losses->SetRate(0);
    DynamicCast<WifiNetDevice>(devices.Get(stations))->GetPhy()->SetPostReceptionErrorModel(losses);
    Simulator::Schedule(loaded, &RateErrorModel::SetRate, losses, loss);
    uint64_t acked = 0;
    auto send = [&](uint32_t station) {
        devices.Get(station)->Send(Create<Packet>(body), devices.Get(stations)->GetAddress(), 1);
    };
    for (uint32_t i = 0; i < stations; i++)
    {
        std::function<void(Ptr<const WifiMpdu>)> ended = [&, i](Ptr<const WifiMpdu> mpdu) {
            acked += Simulator::Now() >= counted && mpdu->GetHeader().IsQosData();
            if (Simulator::Now() >= loaded && mpdu->GetHeader().IsQosData())
            {
                Simulator::ScheduleNow([&, i] { send(i); });
            }
        };
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->TraceConnectWithoutContext(
            "AckedMpdu", Callback<void, Ptr<const WifiMpdu>>(ended));
        for (uint32_t packet = 0; packet < 2 * window; packet++)
        {
            bool first = packet < 4 && agree == "before"; // several, as one alone asks for no agreement
            Simulator::Schedule(first ? MilliSeconds(20 * i) : loaded, [&, i] { send(i); });
            if (first)
            {
                Simulator::Schedule(loaded, [&, i] { send(i); });
            }
        }
    }
    Simulator::Stop(counted + Seconds(seconds));
    Simulator::Run();
    std::cout << acked / seconds << std::endl;
    Simulator::Destroy();
}
