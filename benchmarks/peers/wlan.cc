// SPDX-License-Identifier: BSD-3-Clause
/*
 * A WLAN in ns-3 (3.37): stations around an access point, saturated with UDP, as a peer for dcflab's topology `wlan`.
 * It prints one JSON object. 802.11b with long preambles, no RTS, retry limit 7, queues of 50; all stations are 20 m
 * from the access point, and hear each other. --slow of them send at 1 Mb/s; the access point sends at 11 to all.
 * --cells=2: so many of that, --apart m from each other on one channel, with 802.11a at 24 Mb/s, 20 dBm and a loss of
 * 46.7 + 30 log10(m) dB. ns-3 notices, and senses, signals of Wi-Fi from -82 dBm on.
 *
 * Build:  g++ -O2 -o wlan-ns3 wlan.cc -lns3-{wifi,applications,internet,traffic-control,propagation,mobility,network,core}
 * Usage:  wlan-ns3 --stations=5 --direction=up|down|both --slow=0 --cells=1 --seconds=30 --seed=1 --bytes=1472
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
constexpr double OFFERED = 18.0e6; // bit/s, of which each flow offers one of stations + 1 parts; in several cells twice that

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
    const bool ofdm = mode.rfind("Ofdm", 0) == 0;
    const StringValue lowest(ofdm ? "OfdmRate6Mbps" : "DsssRate1Mbps");
    WifiHelper wifi;
    wifi.SetStandard(ofdm ? WIFI_STANDARD_80211a : WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "ControlMode", lowest,
                                 "NonUnicastMode", lowest);
    return wifi;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 5, slow = 0, seed = 1, bytes = 1472, cells = 1;
    double preamble = 4, apart = 60;
    double seconds = 30;
    std::string direction = "up";
    CommandLine command(__FILE__);
    command.AddValue("stations", "stations around the access point", stations);
    command.AddValue("cells", "how many such networks are on one channel", cells);
    command.AddValue("apart", "metres from one access point to the next", apart);
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

    const bool alone = cells == 1;
    NodeContainer aps(cells), clients(cells * stations);
    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    for (uint32_t cell = 0; cell < cells; cell++)
    {
        places->Add(Vector(cell * apart, 0, 0));
    }
    for (uint32_t i = 0; i < cells * stations; i++)
    {
        const double angle = 2 * M_PI * (i % stations) / stations;
        places->Add(Vector(i / stations * apart + 20 * std::cos(angle), 20 * std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(aps);
    mobility.Install(clients);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (alone)
    {
        channel.AddPropagationLoss("ns3::FriisPropagationLossModel");
    }
    else
    {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(3), "ReferenceLoss",
                                   DoubleValue(46.7));
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    if (!alone)
    {
        phy.Set("TxPowerStart", DoubleValue(20));
        phy.Set("TxPowerEnd", DoubleValue(20));
    }
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "Threshold", DoubleValue(preamble));
    WifiMacHelper mac;
    const auto ssid = [](uint32_t cell) { return SsidValue(Ssid("lab" + std::to_string(cell))); };
    const std::string fast = alone ? "DsssRate11Mbps" : "OfdmRate24Mbps";
    NetDeviceContainer devices;
    for (uint32_t cell = 0; cell < cells; cell++)
    {
        mac.SetType("ns3::ApWifiMac", "Ssid", ssid(cell), "BeaconInterval", TimeValue(MicroSeconds(1024 * 100)),
                    "QosSupported", BooleanValue(false));
        devices.Add(Helper(fast).Install(phy, mac, aps.Get(cell)));
    }
    for (uint32_t i = 0; i < cells * stations; i++)
    {
        mac.SetType("ns3::StaWifiMac", "Ssid", ssid(i / stations), "QosSupported", BooleanValue(false),
                    "MaxMissedBeacons", UintegerValue(100000));
        devices.Add(Helper(i < slow ? "DsssRate1Mbps" : fast).Install(phy, mac, clients.Get(i)));
    }
    WifiHelper().AssignStreams(devices, 0);

    InternetStackHelper internet;
    internet.Install(aps);
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
        source.SetAttribute("DataRate", DataRateValue(DataRate(OFFERED * (alone ? 1 : 2) / (stations + 1) *
                                                               (1 + 0.0137 * sinks.size()))));
        source.Install(from).Start(Seconds(1 + 0.0037 * sinks.size()));
        sinks.push_back(DynamicCast<PacketSink>(sink.Get(0)));
    };
    for (uint32_t i = 0; i < cells * stations && direction != "down"; i++)
    {
        flow(clients.Get(i), aps.Get(i / stations), interfaces.GetAddress(i / stations), 5001 + i);
    }
    for (uint32_t i = 0; i < cells * stations && direction != "up"; i++)
    {
        flow(aps.Get(i / stations), clients.Get(i), interfaces.GetAddress(cells + i), 5001);
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
