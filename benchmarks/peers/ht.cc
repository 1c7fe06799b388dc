// SPDX-License-Identifier: BSD-3-Clause
/*
 * A WLAN of 802.11n, ac or ax in ns-3 (3.37), a peer for dcflab's topology `wlan`: stations around an access point, with
 * UDP from them to it, as much as they can send, or at constant rates down to them. It prints Mb/s that arrive, without
 * headers, in all.
 *
 * All hear each other at -40 dBm, so PPDUs that begin together are lost. Best effort (AIFSN 3, CW 15 to 1023, no TXOP),
 * no RTS, no block-ACK requests, A-MPDUs as long as bytes, time and a window of 64 allow, no A-MSDUs; control frames have
 * 24 Mb/s at most. The first second after the start of the load is not counted. ns-3 makes block-ACK
 * agreements in the category of the data, and in HT only if two datagrams wait. Under load 20 stations make them late, and
 * have up to 6 % less in the seconds counted. So each sends two datagrams before the load begins.
 *
 * Build:  g++ -O2 -o ht-ns3 ht.cc -lns3-{wifi,applications,internet,traffic-control,propagation,mobility,network,core}
 * Usage:  ht-ns3 --format=ht|vht|he --mcs=7 --width=20 --streams=1 --stations=5 --direction=up|down --offered=65
 *                --seconds=2 --seed=1 --bytes=1460
 *
 * `offered` is what all flows down offer together, Mb/s of payload. Stations have 184 datagrams each, as a socket of Linux
 * with the largest buffer. Guard intervals are of 0.8 us.
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
    command.AddValue("offered", "load of all flows down, Mb/s", offered);
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

    const double loaded = 1, counted = 2; // s; associations and agreements come before
    const uint32_t waiting = 184;
    const bool up = direction == "up";
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < stations; i++)
    {
        const InetSocketAddress there(interfaces.GetAddress(up ? 0 : i + 1), 5001 + i);
        ApplicationContainer sink =
            PacketSinkHelper("ns3::UdpSocketFactory", there).Install(up ? ap.Get(0) : clients.Get(i));
        sinks.push_back(DynamicCast<PacketSink>(sink.Get(0)));
        Ptr<Socket> socket = Socket::CreateSocket(up ? clients.Get(i) : ap.Get(0), UdpSocketFactory::GetTypeId());
        socket->Connect(there);
        const auto send = [socket, bytes] { socket->Send(Create<Packet>(bytes)); };
        const Time start = Seconds(loaded + 0.0037 * i);
        Simulator::Schedule(Seconds(0.5 + 0.02 * i), [=] {
            send();
            send();
        });
        if (up)
        {
            Simulator::Schedule(start, [=] {
                for (uint32_t n = 0; n < waiting; n++)
                {
                    send();
                }
            });
            std::function<void(Ptr<const WifiMpdu>)> acked = [=](Ptr<const WifiMpdu> mpdu) {
                if (Simulator::Now() >= start && mpdu->GetHeader().IsQosData())
                {
                    Simulator::ScheduleNow(send);
                }
            };
            DynamicCast<WifiNetDevice>(devices.Get(i + 1))->GetMac()->TraceConnectWithoutContext(
                "AckedMpdu", Callback<void, Ptr<const WifiMpdu>>(acked));
            continue;
        }
        OnOffHelper source("ns3::UdpSocketFactory", there);
        source.SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=1e9]"));
        source.SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
        source.SetAttribute("PacketSize", UintegerValue(bytes));
        source.SetAttribute("DataRate", DataRateValue(DataRate(offered * 1e6 / stations * (1 + 0.0137 * i / stations))));
        source.Install(ap.Get(0)).Start(start);
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
