// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stations that move by a setdest file in ns-3 (3.37), over its own AODV, DSR or OLSR with their defaults, as a peer
 * for dcflab: one NewReno flow from the first station to the second, or light datagrams between the first ten, from
 * odd to even, which do not adapt. It prints one JSON object.
 *
 * 802.11b at 2 Mb/s, control frames at 1 Mb/s, two-ray ground with ns-2's ranges (250 m reception, 550 m carrier
 * sense), retry limits 7 and 4, queues of 50, 1460 B segments, no SACK, a window of 64: string.cc says what differs
 * all the same. Addresses are found by ARP: AODV looks up there who a frame was for that the MAC gave up, and takes
 * entries that were made beforehand for none.
 *
 * Build:  g++ -O2 -o manet-ns3 manet.cc -lns3-{aodv,dsr,olsr,wifi,applications,internet,…}
 * Usage:  manet-ns3 --movement=FILE --stations=50 --routing=AODV|DSR|OLSR --traffic=tcp|cbr --rts=full|none
 *                   --seconds=300 --seed=1
 *
 * What is counted: datagrams that arrived, each once; the hops of each, which are the stations that had sent it by
 * then; and packets of routing that stations sent, each hop for itself, with their IP headers. What DSR's header adds
 * to data is not counted.
 */
#include "dsss.hh"

#include "ns3/aodv-module.h"
#include "ns3/dsr-module.h"
#include "ns3/ns2-mobility-helper.h"
#include "ns3/olsr-module.h"

namespace
{

constexpr uint32_t WINDOW = 64, DATAGRAM = 512, PAIRS = 5;
constexpr uint16_t PORT = 5001, AODV_PORT = 654, OLSR_PORT = 698;
constexpr double EVERY_S = 0.25, FROM_S = 20; // by then a proactive protocol knows its ways
constexpr uint8_t DSR_PROTOCOL = 48, DSR_CONTROL = 1;

struct Counts
{
    uint64_t sent = 0, arrived = 0, hops = 0, frames = 0, bytes = 0;
    std::map<uint64_t, std::set<uint32_t>> senders; // of a datagram on its way, by its uid
} g_counts;

bool
IsRouting(Ptr<Packet> packet, const Ipv4Header& ip)
{
    if (ip.GetProtocol() == DSR_PROTOCOL)
    {
        dsr::DsrFsHeader header;
        packet->PeekHeader(header);
        return header.GetMessageType() == DSR_CONTROL;
    }
    UdpHeader udp;
    return ip.GetProtocol() == UdpL4Protocol::PROT_NUMBER && packet->PeekHeader(udp) &&
           (udp.GetDestinationPort() == AODV_PORT || udp.GetDestinationPort() == OLSR_PORT);
}

/// A station's IP hands a packet to its radio; interface 0 is the loopback.
void
IpTx(uint32_t station, Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t interface)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    auto datagram = g_counts.senders.find(packet->GetUid());
    if (datagram != g_counts.senders.end() && interface)
    {
        datagram->second.insert(station);
    }
    else if (interface && IsRouting(copy, ip))
    {
        g_counts.frames++;
        g_counts.bytes += packet->GetSize();
    }
}

/// A datagram, and the next in its time.
void
Send(Ptr<Socket> socket)
{
    Ptr<Packet> datagram = Create<Packet>(DATAGRAM);
    g_counts.sent++;
    g_counts.senders[datagram->GetUid()];
    socket->Send(datagram);
    Simulator::Schedule(Seconds(EVERY_S), &Send, socket);
}

void
Arrived(Ptr<Socket> socket)
{
    auto datagram = g_counts.senders.find(socket->Recv()->GetUid());
    if (datagram != g_counts.senders.end())
    {
        g_counts.arrived++;
        g_counts.hops += datagram->second.size();
        g_counts.senders.erase(datagram);
    }
}

void
InstallRouting(const std::string& routing, const NodeContainer& nodes)
{
    InternetStackHelper internet;
    AodvHelper aodv;
    OlsrHelper olsr;
    if (routing == "AODV")
    {
        internet.SetRoutingHelper(aodv);
    }
    else if (routing == "OLSR")
    {
        internet.SetRoutingHelper(olsr);
    }
    internet.Install(nodes);
    if (routing == "DSR")
    {
        DsrHelper dsr;
        DsrMainHelper().Install(dsr, nodes);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 50, seed = 1;
    double seconds = 300;
    std::string movement, routing = "AODV", traffic = "tcp", rts = "none";
    CommandLine command(__FILE__);
    command.AddValue("movement", "setdest file", movement);
    command.AddValue("stations", "how many it moves", stations);
    command.AddValue("routing", "AODV, DSR or OLSR", routing);
    command.AddValue("traffic", "tcp or cbr", traffic);
    command.AddValue("rts", "full or none", rts);
    command.AddValue("seconds", "simulated seconds", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.Parse(argc, argv);
    NS_ABORT_MSG_IF(movement.empty() || stations < 2 * PAIRS || stations > 250, "a movement of 10..250 stations");
    NS_ABORT_MSG_IF(routing != "AODV" && routing != "DSR" && routing != "OLSR", "routing: AODV, DSR or OLSR");
    NS_ABORT_MSG_IF(traffic != "tcp" && traffic != "cbr", "traffic: tcp or cbr");
    NS_ABORT_MSG_IF(rts != "full" && rts != "none", "rts: full or none");
    RngSeedManager::SetRun(seed);

    SetDefaults(rts == "full" ? 0 : 65535, WINDOW, 1, false);

    NodeContainer nodes(stations);
    Ns2MobilityHelper(movement).Install();

    NetDeviceContainer devices = InstallRadios(nodes);
    WifiHelper().AssignStreams(devices, 0);

    InstallRouting(routing, nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    for (uint32_t i = 0; i < stations; i++)
    {
        OnlyBasicRate(DynamicCast<WifiNetDevice>(devices.Get(i))->GetRemoteStationManager(), devices);
        nodes.Get(i)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeBoundCallback(&IpTx, i));
    }

    ApplicationContainer sinks;
    if (traffic == "tcp")
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sinks = sink.Install(nodes.Get(1));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), PORT));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        source.Install(nodes.Get(0)).Start(Seconds(FROM_S)); // it gives up at once where there is no route yet
    }
    for (uint32_t pair = 0; traffic == "cbr" && pair < PAIRS; pair++)
    {
        Ptr<Socket> sink = Socket::CreateSocket(nodes.Get(2 * pair + 1), UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sink->SetRecvCallback(MakeCallback(&Arrived));
        Ptr<Socket> source = Socket::CreateSocket(nodes.Get(2 * pair), UdpSocketFactory::GetTypeId());
        source->Connect(InetSocketAddress(interfaces.GetAddress(2 * pair + 1), PORT));
        Simulator::Schedule(Seconds(FROM_S + pair * EVERY_S / PAIRS), &Send, source);
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const uint64_t bytes = sinks.GetN() ? DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() : 0;
    std::cout << "{\"sent\": " << g_counts.sent << ", \"arrived\": " << g_counts.arrived
              << ", \"hops\": " << g_counts.hops << ", \"frames\": " << g_counts.frames
              << ", \"bytes\": " << g_counts.bytes << ", \"segments\": " << bytes / SEGMENT << "}" << std::endl;
    if (routing == "DSR")
    {
        std::_Exit(0); // 3.37's aborts in its destructor, which asks the MAC for a trace source that is no more
    }
    Simulator::Destroy();
    return 0;
}
