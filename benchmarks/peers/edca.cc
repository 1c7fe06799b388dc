// SPDX-License-Identifier: BSD-3-Clause
/*
 * Saturated EDCA in ns-3 (3.37), a peer for dcflab's: stations around a sink, all of which hear each other, send QoS
 * data to it without end. It prints one JSON object: frames acknowledged per second, by category.
 *
 * Build:  g++ -O2 -o edca-ns3 edca.cc -lns3-{wifi,network,propagation,mobility,core}
 * Usage:  edca-ns3 --vo=2 --vi=2 --be=2 --bk=2 --phy=a|b --txop=0 --together=0 --seconds=20 --seed=1
 *
 * So many stations have one category each; with --together=N, N stations have all four, and categories collide inside.
 * Frames of 1028 B at 11 Mb/s (b, ACKs at 1 Mb/s) or 54 Mb/s (a, ACKs at 24 Mb/s). --txop=1 keeps the default TXOP
 * limits, else there are none; --wide=1 has larger contention windows than the default ones. Nothing is given up in less than 255 attempts.
 */
#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <iostream>

using namespace ns3;

namespace
{

constexpr uint32_t BODY = 1000 - 8; // and 8 of LLC/SNAP: 1028 with QoS header and FCS, less 2
const char* const NAMES[] = {"vo", "vi", "be", "bk"};
const uint8_t PRIORITIES[] = {6, 5, 0, 1};
const AcIndex ACS[] = {AC_VO, AC_VI, AC_BE, AC_BK};
const uint32_t WIDE[][2] = {{2, 31}, {3, 31}, {4, 63}, {6, 63}}; // AIFSN, CWmin

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t each[4] = {2, 2, 2, 2}, together = 0, seed = 1;
    double seconds = 20;
    bool txop = false, wide = false;
    std::string phyName = "b";
    CommandLine command(__FILE__);
    for (int ac = 0; ac < 4; ac++)
    {
        command.AddValue(NAMES[ac], "stations of this category", each[ac]);
    }
    command.AddValue("together", "stations that have all four categories, in place of these", together);
    command.AddValue("phy", "a or b", phyName);
    command.AddValue("txop", "keep the default TXOP limits", txop);
    command.AddValue("wide", "other parameters than the default ones, with which collisions are rare", wide);
    command.AddValue("seconds", "simulated seconds", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.Parse(argc, argv);
    NS_ABORT_MSG_IF(phyName != "a" && phyName != "b", "phy: a or b");
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(255));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(255));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("20p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));

    std::vector<std::vector<int>> sends; // the categories of each station
    for (uint32_t i = 0; i < together; i++)
    {
        sends.push_back({0, 1, 2, 3});
    }
    for (int ac = 0; ac < 4 && !together; ac++)
    {
        sends.insert(sends.end(), each[ac], {ac});
    }
    NodeContainer nodes(sends.size() + 1); // the sink is the last
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(0), "DeltaY", DoubleValue(0));
    mobility.Install(nodes);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-50));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    const bool b = phyName == "b";
    wifi.SetStandard(b ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue(b ? "DsssRate11Mbps" : "OfdmRate54Mbps"), "ControlMode",
                                 StringValue(b ? "DsssRate1Mbps" : "OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i < devices.GetN(); i++)
    {
        for (int ac = 0; ac < 4; ac++)
        {
            Ptr<QosTxop> edca = DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->GetQosTxop(ACS[ac]);
            if (!txop)
            {
                edca->SetTxopLimit(Seconds(0));
            }
            if (wide)
            {
                edca->SetAifsn(WIDE[ac][0]);
                edca->SetMinCw(WIDE[ac][1]);
                edca->SetMaxCw(1023);
            }
        }
    }
    if (b)
    { // only 1 Mb/s is basic, as a station that is met would have all mandatory rates made so
        for (uint32_t i = 0; i < devices.GetN(); i++)
        {
            auto manager = DynamicCast<WifiNetDevice>(devices.Get(i))->GetRemoteStationManager();
            manager->AddBasicMode(WifiMode("DsssRate1Mbps"));
            for (uint32_t j = 0; j < devices.GetN(); j++)
            {
                const Mac48Address other = Mac48Address::ConvertFrom(devices.Get(j)->GetAddress());
                manager->AddSupportedMode(other, WifiMode("DsssRate1Mbps"));
                manager->AddSupportedMode(other, WifiMode("DsssRate11Mbps"));
                manager->SetQosSupport(other, true);
                manager->RecordDisassociated(other);
            }
        }
    }
    PacketSocketHelper().Install(nodes);
    uint64_t received[4] = {};
    Ptr<Node> sink = nodes.Get(sends.size());
    for (int ac = 0; ac < 4; ac++)
    {
        PacketSocketAddress address;
        address.SetSingleDevice(devices.Get(sends.size())->GetIfIndex());
        address.SetPhysicalAddress(devices.Get(sends.size())->GetAddress());
        address.SetProtocol(1 + ac);
        Ptr<PacketSocketServer> server = CreateObject<PacketSocketServer>();
        server->SetLocal(address);
        sink->AddApplication(server);
        server->TraceConnectWithoutContext(
            "Rx", Callback<void, Ptr<const Packet>, const Address&>(
                      std::function<void(Ptr<const Packet>, const Address&)>(
                          [&received, ac](Ptr<const Packet>, const Address&) {
                              received[ac] += Simulator::Now() >= Seconds(1);
                          })));
        for (uint32_t i = 0; i < sends.size(); i++)
        {
            if (std::find(sends[i].begin(), sends[i].end(), ac) == sends[i].end())
            {
                continue;
            }
            address.SetSingleDevice(devices.Get(i)->GetIfIndex());
            Ptr<PacketSocketClient> client = CreateObject<PacketSocketClient>();
            client->SetAttribute("PacketSize", UintegerValue(BODY));
            client->SetAttribute("MaxPackets", UintegerValue(0));
            client->SetAttribute("Interval", TimeValue(MicroSeconds(b ? 1000 : 250)));
            client->SetAttribute("Priority", UintegerValue(PRIORITIES[ac]));
            client->SetRemote(address);
            client->SetStartTime(Seconds(0.5) + MicroSeconds(10 * i + ac));
            nodes.Get(i)->AddApplication(client);
        }
    }
    Simulator::Stop(Seconds(seconds + 1));
    Simulator::Run();
    std::cout << "{";
    for (int ac = 0; ac < 4; ac++)
    {
        std::cout << (ac ? ", " : "") << "\"" << NAMES[ac] << "\": " << received[ac] / seconds;
    }
    std::cout << "}" << std::endl;
    Simulator::Destroy();
}
