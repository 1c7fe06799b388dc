// SPDX-License-Identifier: BSD-3-Clause
/*
 * A WLAN of 802.11n, ac or ax in ns-3 (3.37), a peer for dcflab's topology `wlan`: stations around an access point, with
 * UDP at constant rates from them to it, or down to them. It prints Mb/s that arrive, without headers, in all.
 *
 * All hear each other at -40 dBm, so PPDUs that begin together are lost. Best effort (AIFSN 3, CW 15 to 1023, no TXOP),
 * no RTS, no block-ACK requests, A-MPDUs as long as bytes, time and a window of 64 allow, no A-MSDUs; control frames have
 * 24 Mb/s at most. The first second after the start of the load is not counted.
 *
 * Build:  g++ -O2 -o ht-ns3 ht.cc -lns3-{wifi,applications,internet,traffic-control,propagation,mobility,network,core}
 * Usage:  ht-ns3 --format=ht|vht|he --mcs=7 --width=20 --streams=1 --stations=5 --direction=up|down --offered=65
 *                --seconds=2 --seed=1 --bytes=1460
 *
 * `offered` is what all flows offer together, Mb/s of payload. Guard intervals are of 0.8 us.
 */
#include "ht.hh"

#include "ns3/applications-module.h"
#include "ns3/internet-module.h"
#include "ns3/traffic-control-helper.h"

int
main(int argc, char* argv[])
{
    Mode mode;
    std::string direction = "up";
    uint32_t stations = 5, bytes = 1460;
    double offered = 65;
    CommandLine command(__FILE__);
    mode.AddValues(command);
    command.AddValue("stations", "stations around the access point", stations);
    command.AddValue("direction", "up or down", direction);
    command.AddValue("offered", "load of all flows together, Mb/s", offered);
    command.AddValue("bytes", "of a datagram", bytes);
    command.Parse(argc, argv);
    mode.SetDefaults(direction == "up" ? 200 : 200 * stations, 64, 800);

    NodeContainer ap(1), clients(stations);
    mode.Place(NodeContainer(ap, clients));
    const YansWifiPhyHelper phy = mode.Phy();
    const WifiHelper wifi = mode.Wifi();
    const SsidValue ssid(Ssid("lab"));
    const UintegerValue longest = mode.LongestAmpdu();
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", ssid, "BeaconInterval", TimeValue(MicroSeconds(1024 * 100)), "BE_MaxAmpduSize",
                longest);
    NetDeviceContainer devices = wifi.Install(phy, mac, ap);
    mac.SetType("ns3::StaWifiMac", "Ssid", ssid, "MaxMissedBeacons", UintegerValue(100000), "BE_MaxAmpduSize", longest);
    devices.Add(wifi.Install(phy, mac, clients));

    InternetStackHelper internet;
    internet.Install(ap);
    internet.Install(clients);
    Ipv4InterfaceContainer interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();

    const double loaded = 1, counted = 2; // s; associations come before
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < stations; i++)
    {
        const bool up = direction == "up";
        const InetSocketAddress there(interfaces.GetAddress(up ? 0 : i + 1), 5001 + i);
        ApplicationContainer sink =
            PacketSinkHelper("ns3::UdpSocketFactory", there).Install(up ? ap.Get(0) : clients.Get(i));
        OnOffHelper source("ns3::UdpSocketFactory", there);
        source.SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=1e9]"));
        source.SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
        source.SetAttribute("PacketSize", UintegerValue(bytes));
        source.SetAttribute("DataRate", DataRateValue(DataRate(offered * 1e6 / stations * (1 + 0.0137 * i / stations))));
        source.Install(up ? clients.Get(i) : ap.Get(0)).Start(Seconds(loaded + 0.0037 * i));
        sinks.push_back(DynamicCast<PacketSink>(sink.Get(0)));
    }
    const auto arrived = [&] {
        uint64_t sum = 0;
        for (const auto& sink : sinks)
        {
            sum += sink->GetTotalRx();
        }
        return sum;
    };
    uint64_t before = 0;
    Simulator::Schedule(Seconds(counted), [&] { before = arrived(); });
    Simulator::Stop(Seconds(counted + mode.seconds));
    Simulator::Run();
    std::cout << (arrived() - before) * 8 / mode.seconds / 1e6 << std::endl;
    Simulator::Destroy();
}
