// SPDX-License-Identifier: BSD-3-Clause
/*
 * `./dcflab run mesh` in ns-3 (3.37), to compare what a run takes: stations on a square grid, 200 m apart, a TCP flow
 * along every other row, 802.11b at 2 Mb/s without RTS/CTS, two-ray ground with ns-2's ranges, static routes, neighbour
 * caches filled before. No trace is written. It prints one JSON object: seconds of wall time until all is set up and
 * then, segments that arrived.
 *
 * Build:  g++ -O2 -o mesh-ns3 mesh.cc -lns3-{wifi,applications,internet,traffic-control,propagation,mobility,network,core}
 * Usage:  mesh-ns3 --side=20 --flows=10 --seconds=10 --seed=1
 *
 * What each station ignores is ns-3's choice: whatever comes below CS_DBM, as a station is within 550 m of some 20
 * others. Its channel still hands each frame to all stations.
 */
#include "dsss.hh"

#include <chrono>

int
main(int argc, char* argv[])
{
    const auto start = std::chrono::steady_clock::now();
    const auto since = [&start] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    uint32_t side = 5, flows = 3, seed = 1;
    double seconds = 10;
    CommandLine command(__FILE__);
    command.AddValue("side", "stations in a row and in a column", side);
    command.AddValue("flows", "flows, along rows 1, 3, 5 ...", flows);
    command.AddValue("seconds", "simulated seconds", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.Parse(argc, argv);
    NS_ABORT_MSG_IF(side < 2 || side > 64 || flows > (side + 1) / 2 || seconds <= 0 || seed < 1,
                    "side 2..64, flows for every other row at most, seconds and seed > 0");
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));

    NodeContainer nodes(side * side);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(200), "DeltaY", DoubleValue(200),
                                  "GridWidth", UintegerValue(side));
    mobility.Install(nodes);

    NetDeviceContainer devices = InstallRadios(nodes);

    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.Install(nodes);
    Ipv4InterfaceContainer interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t flow = 0; flow < flows; flow++)
    {
        const uint32_t first = 2 * flow * side, last = first + side - 1;
        AddRoutes(nodes, interfaces, first, last);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(last)).Get(0)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(last), 5001));
        source.Install(nodes.Get(first));
    }

    const double setUp = since();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    uint64_t bytes = 0;
    for (const auto& sink : sinks)
    {
        bytes += sink->GetTotalRx();
    }
    std::cout << "{\"setup_s\": " << setUp << ", \"wall_s\": " << since() << ", \"segments\": " << bytes / SEGMENT << "}"
              << std::endl;
    Simulator::Destroy();
    return 0;
}
