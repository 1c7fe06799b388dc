// SPDX-License-Identifier: BSD-3-Clause
/*
 * A WLAN in ns-3 (3.37): stations around an access point, saturated with UDP, as a peer for dcflab's topology `wlan`.
 * It prints one JSON object. 802.11b with long preambles, no RTS, retry limit 7, queues of 50; all stations are 20 m
 * from the access point, and hear each other. --slow of them send at 1 Mb/s; the access point sends at 11 to all.
 *
 * Build:  g++ -O2 -o wlan-ns3 wlan.cc -lns3-{wifi,applications,internet,traffic-control,propagation,mobility,network,core}
 * Usage:  wlan-ns3 --stations=5 --direction=up|down|both --slow=0 --seconds=30 --seed=1 --bytes=1472
 *
 * The access point itself is the other end: at dcflab it is a host on a wire behind it. Each flow offers more than the
 * medium carries; datagrams of different flows are not in step, as their intervals differ a little.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <iostream>
#include <map>
#include <set>

using namespace ns3;

namespace
{

constexpr double WARM_UP = 2.0;   // s: associations and neighbours
constexpr double OFFERED = 18.0e6; // bit/s, of which each flow offers one of stations + 1 parts

std::map<std::string, std::set<double>> g_rates;

void
Sent(Ptr<const Packet> packet, uint16_t, WifiTxVector vector, MpduInfo, uint16_t)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    g_rates[header.GetTypeString()].insert(vector.GetMode().GetDataRate(vector) / 1e6);
}

WifiHelper
Helper(const std::string& mode)
{
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "ControlMode",
                                 StringValue("DsssRate1Mbps"), "NonUnicastMode", StringValue("DsssRate1Mbps"));
    return wifi;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 5, slow = 0, seed = 1, bytes = 1472;
    double preamble = 4;
    double seconds = 30;
    std::string direction = "up";
    CommandLine command(__FILE__);
    command.AddValue("stations", "stations around the access point", stations);
    command.AddValue("slow", "how many of them send at 1 Mb/s instead of 11", slow);
    command.AddValue("direction", "up, down or both", direction);
    command.AddValue("seconds", "simulated seconds, after the start", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.AddValue("bytes", "of a datagram", bytes);
    command.AddValue("preamble", "SNR in dB below which no frame is noticed; 4 is ns-3's default", preamble);
    command.Parse(argc, argv);
    NS_ABORT_MSG_IF(stations < 1 || stations > 250 || slow > stations || seconds <= 0 || seed < 1,
                    "stations 1..250, no more slow ones, seconds and seed > 0");
    NS_ABORT_MSG_IF(direction != "up" && direction != "down" && direction != "both", "direction: up, down or both");
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(65535));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));

    NodeContainer ap(1), clients(stations);
    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations; i++)
    {
        places->Add(Vector(20 * std::cos(2 * M_PI * i / stations), 20 * std::sin(2 * M_PI * i / stations), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(ap);
    mobility.Install(clients);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FriisPropagationLossModel");
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "Threshold", DoubleValue(preamble));
    WifiMacHelper mac;
    const Ssid ssid("lab");
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BeaconInterval", TimeValue(MicroSeconds(1024 * 100)),
                "QosSupported", BooleanValue(false));
    NetDeviceContainer devices = Helper("DsssRate11Mbps").Install(phy, mac, ap);
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false), "MaxMissedBeacons",
                UintegerValue(100000));
    for (uint32_t i = 0; i < stations; i++)
    {
        devices.Add(Helper(i < slow ? "DsssRate1Mbps" : "DsssRate11Mbps").Install(phy, mac, clients.Get(i)));
    }
    WifiHelper().AssignStreams(devices, 0);

    InternetStackHelper internet;
    internet.Install(ap);
    internet.Install(clients);
    Ipv4InterfaceContainer interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();
    for (uint32_t i = 0; i < devices.GetN(); i++)
    {
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx",
                                                                                         MakeCallback(&Sent));
    }

    std::vector<Ptr<PacketSink>> sinks;
    const auto flow = [&](Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port) {
        const InetSocketAddress there(address, port);
        ApplicationContainer sink = PacketSinkHelper("ns3::UdpSocketFactory", there).Install(to);
        OnOffHelper source("ns3::UdpSocketFactory", there);
        source.SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=1e9]"));
        source.SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
        source.SetAttribute("PacketSize", UintegerValue(bytes));
        source.SetAttribute("DataRate", DataRateValue(DataRate(OFFERED / (stations + 1) * (1 + 0.0137 * sinks.size()))));
        source.Install(from).Start(Seconds(1 + 0.0037 * sinks.size()));
        sinks.push_back(DynamicCast<PacketSink>(sink.Get(0)));
    };
    for (uint32_t i = 0; i < stations && direction != "down"; i++)
    {
        flow(clients.Get(i), ap.Get(0), interfaces.GetAddress(0), 5001 + i);
    }
    for (uint32_t i = 0; i < stations && direction != "up"; i++)
    {
        flow(ap.Get(0), clients.Get(i), interfaces.GetAddress(i + 1), 5001);
    }

    std::vector<uint64_t> before;
    Simulator::Schedule(Seconds(WARM_UP), [&]() {
        for (const auto& sink : sinks)
        {
            before.push_back(sink->GetTotalRx());
        }
    });
    Simulator::Stop(Seconds(WARM_UP + seconds));
    Simulator::Run();
    std::cout << "{\"kbps\": [";
    for (size_t i = 0; i < sinks.size(); i++)
    {
        std::cout << (i ? ", " : "") << (sinks[i]->GetTotalRx() - before[i]) * 8 / seconds / 1000;
    }
    std::cout << "], \"rates\": {";
    for (const auto& [type, rates] : g_rates)
    {
        std::cout << (type == g_rates.begin()->first ? "" : ", ") << "\"" << type << "\": [";
        for (double rate : rates)
        {
            std::cout << (rate == *rates.begin() ? "" : ", ") << rate;
        }
        std::cout << "]";
    }
    std::cout << "}}" << std::endl;
    Simulator::Destroy();
    return 0;
}
