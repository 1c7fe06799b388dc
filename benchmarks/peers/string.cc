// SPDX-License-Identifier: BSD-3-Clause
/*
 * The string of the seeds in ns-3 (3.37): one NewReno flow end to end over stations 200 m apart, as a peer for dcflab.
 * It prints one JSON object. Its scenario is that of seed 000, section 2, with static routes instead of AODV:
 * 802.11b at 2 Mb/s, control frames at 1 Mb/s, two-ray ground with ns-2's ranges (250 m reception, 550 m carrier
 * sense), retry limits 7 and 4, a drop-tail queue of 50, 1460 B segments, no SACK, a window of 64 segments (of
 * --window); neighbour caches are filled before.
 *
 * Build:  g++ -O2 -o string-ns3 string.cc -lns3-{wifi,applications,internet,traffic-control,propagation,mobility,network,core}
 * Usage:  string-ns3 --stations=5 --rts=full|partial|none --ack=plain|delayed --seconds=120 --seed=1
 *                    --tcp=newreno|sack --window=64
 *
 * Made equal to dcflab, which ns-3 is not by itself:
 *   - Only 1 Mb/s is basic. An ad hoc MAC makes all mandatory rates basic when it meets a station, which sends the
 *     MAC's ACKs at 2 Mb/s; so it is told of all stations before (OnlyBasicRate).
 *   - What arrives goes up 20 us later (Later). A segment made in the instant of a reception finds the medium idle, as
 *     the station's own ACK is still to come, and would go out after that ACK without a backoff.
 *   - A preamble is found from -3 dB of SINR on, which is where its bits at 1 Mb/s are right, and not from 4 dB on, the
 *     default: of two signals as strong as each other the second is received when the first is over early enough.
 *
 * What differs all the same:
 *   - Reception is ns-3's: a station ignores what is below the reception threshold, interferers add up, bits fail by
 *     SINR. That is dcflab's `sinr`, not its `capture`: at DSSS rates ns-3 asks no error model but its own, so that
 *     there is no giving it ns-2's 10 dB. Strings under `capture` have no peer here.
 *   - An RTS is never given up: of frames above the RTS threshold only failed data transmissions count, against MaxSlrc
 *     (31 failed RTS in a row were seen). FAIL_RTS/CTS is 0 here by construction, and what it leads to is not there;
 *     dcflab's `--short-retry 255` is nearest.
 *   - A failed header frees the receiver, and is not followed by EIFS.
 *   - After a timeout another DIFS comes before the backoff, and a frame that finds the medium idle waits for a DIFS
 *     from then on, however long it has been idle.
 *   - COL counts what could have been a reception by the reasons that ns-3 gives for dropping it.
 *
 * Without SACK, ns-3's NewReno may never recover from a spurious timeout: it then sends every segment twice for the rest
 * of the run. An initial window of 2 instead of 10 makes that rarer; tcp=sack leaves it out. See `sent_segments`.
 */
#include "dsss.hh"

#include "ns3/traffic-control-layer.h"

#include <chrono>

namespace
{

constexpr uint32_t UP_US = 20; // from the MAC's end of a reception to IP

enum Kind
{
    RTSCTS,
    DATA,
    ACK,
    OTHER
};

struct Counts
{
    uint64_t col[4] = {}, any[4] = {}, fail[4] = {}, sent[4] = {}, queueDrops = 0;
    std::map<std::string, std::set<double>> rates;
} g_counts;

Kind
KindOf(const WifiMacHeader& header, uint32_t payload)
{
    if (header.IsRts() || header.IsCts())
    {
        return RTSCTS;
    }
    return !header.IsData() ? OTHER : payload > SEGMENT ? DATA : ACK;
}

/// A reception that a station began, or could have begun, and that came to nothing.
void
Spoilt(Ptr<WifiNetDevice> device, Ptr<const Packet> packet)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    const Kind kind = KindOf(header, packet->GetSize());
    g_counts.any[kind]++;
    g_counts.col[kind] += header.GetAddr1() == device->GetMac()->GetAddress();
}

void
RxError(Ptr<WifiNetDevice> device, Ptr<const Packet> packet, double)
{
    Spoilt(device, packet);
}

void
RxDrop(Ptr<WifiNetDevice> device, Ptr<const Packet> packet, WifiPhyRxfailureReason reason)
{
    // Below the reception threshold is no collision; a failed payload comes by RxError.
    if (reason == RXING || reason == TXING || reason == BUSY_DECODING_PREAMBLE ||
        reason == RECEPTION_ABORTED_BY_TX || reason == L_SIG_FAILURE || reason == PREAMBLE_DETECTION_PACKET_SWITCH)
    {
        Spoilt(device, packet);
    }
}

/// Segments in flight: from the source's IP to the destination's, or to where the MAC gave the last copy up.
class InFlight
{
  public:
    void Sent(Kind kind, uint64_t uid)
    {
        if (m_where.count(uid))
        {
            return; // a retransmission keeps its uid: two copies under way are one segment
        }
        Advance();
        m_where[uid] = {kind, 0};
        m_now[kind]++;
    }

    void Forwarded(uint32_t station, uint64_t uid)
    {
        auto it = m_where.find(uid);
        if (it != m_where.end())
        {
            it->second.second = station;
        }
    }

    void Gone(uint64_t uid)
    {
        auto it = m_where.find(uid);
        if (it != m_where.end())
        {
            Advance();
            m_now[it->second.first]--;
            m_where.erase(it);
        }
    }

    void GivenUp(uint32_t station, uint64_t uid)
    {
        auto it = m_where.find(uid);
        if (it != m_where.end() && (it->second.second == station || it->second.second == 0))
        {
            Gone(uid); // else only the MAC's acknowledgement was lost: the next station has it
        }
    }

    double Mean(Kind kind)
    {
        Advance();
        return m_area[kind] / Simulator::Now().GetSeconds();
    }

  private:
    void Advance()
    {
        const double now = Simulator::Now().GetSeconds();
        for (int kind = 0; kind < 4; kind++)
        {
            m_area[kind] += m_now[kind] * (now - m_last);
        }
        m_last = now;
    }

    std::map<uint64_t, std::pair<Kind, uint32_t>> m_where; // uid -> kind, the last station that has it (0: the source)
    int m_now[4] = {};
    double m_area[4] = {}, m_last = 0;
} g_flight;

void
IpSent(const Ipv4Header&, Ptr<const Packet> packet, uint32_t)
{
    const Kind kind = packet->GetSize() > SEGMENT ? DATA : ACK;
    g_counts.sent[kind]++;
    g_flight.Sent(kind, packet->GetUid());
}

void
IpForwarded(uint32_t station, const Ipv4Header&, Ptr<const Packet> packet, uint32_t)
{
    g_flight.Forwarded(station, packet->GetUid());
}

void
IpDelivered(const Ipv4Header&, Ptr<const Packet> packet, uint32_t)
{
    g_flight.Gone(packet->GetUid());
}

void
Dropped(uint32_t station, WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu)
{
    if (!mpdu->GetHeader().IsData())
    {
        return;
    }
    if (reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT)
    {
        g_counts.fail[KindOf(mpdu->GetHeader(), mpdu->GetPacketSize())]++;
    }
    g_flight.GivenUp(station, mpdu->GetPacket()->GetUid());
}

/// The queue has been full: a packet does not get as far as the MAC.
void
QueueFull(uint32_t station, Ptr<const Packet> packet)
{
    g_counts.queueDrops++;
    g_flight.GivenUp(station, packet->GetUid());
}

/// Rates of control frames and of DATA, in Mb/s.
void
Sent(Ptr<const Packet> packet, uint16_t, WifiTxVector vector, MpduInfo, uint16_t)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    g_counts.rates[header.GetTypeString()].insert(vector.GetMode().GetDataRate(vector) / 1e6);
}

bool
Later(Ptr<Ipv4L3Protocol> ip, Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t protocol, const Address& from)
{
    if (protocol == Ipv4L3Protocol::PROT_NUMBER)
    {
        Simulator::Schedule(MicroSeconds(UP_US), &Ipv4L3Protocol::Receive, ip, device, packet, protocol, from,
                            device->GetAddress(), NetDevice::PACKET_HOST);
    }
    return true;
}

void
RtsGivenUp(Mac48Address)
{
    g_counts.fail[RTSCTS]++;
}

void
PrintCounts(const char* name, const uint64_t (&of)[4])
{
    std::cout << "\"" << name << "\": {\"rtscts\": " << of[RTSCTS] << ", \"data\": " << of[DATA]
              << ", \"ack\": " << of[ACK] << "}, ";
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 5, seed = 1, window = 64;
    double seconds = 120;
    std::string rts = "full", ack = "plain", tcp = "newreno";
    CommandLine command(__FILE__);
    command.AddValue("stations", "stations on the string", stations);
    command.AddValue("rts", "full, partial or none", rts);
    command.AddValue("ack", "plain or delayed", ack);
    command.AddValue("seconds", "simulated seconds", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.AddValue("tcp", "newreno, or sack: the same with SACK", tcp);
    command.AddValue("window", "segments that may be under way", window);
    command.Parse(argc, argv);
    NS_ABORT_MSG_IF(stations < 2 || stations > 250 || seconds <= 0 || seed < 1 || window < 1,
                    "stations 2..250, seconds, seed and window > 0");
    NS_ABORT_MSG_IF(rts != "full" && rts != "partial" && rts != "none", "rts: full, partial or none");
    NS_ABORT_MSG_IF(ack != "plain" && ack != "delayed", "ack: plain or delayed");
    NS_ABORT_MSG_IF(tcp != "newreno" && tcp != "sack", "tcp: newreno or sack");
    RngSeedManager::SetRun(seed);

    SetDefaults(rts == "full" ? 0 : rts == "partial" ? 400 : 65535, window, ack == "plain" ? 1 : 2, tcp == "sack");

    NodeContainer nodes(stations);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(200), "GridWidth",
                                  UintegerValue(stations));
    mobility.Install(nodes);

    NetDeviceContainer devices = InstallRadios(nodes);
    WifiHelper().AssignStreams(devices, 0);

    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();
    const uint32_t last = stations - 1;
    AddRoutes(nodes, interfaces, 0, last);
    for (uint32_t i = 0; i < stations; i++)
    {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeBoundCallback(&Dropped, i));
        OnlyBasicRate(device->GetRemoteStationManager(), devices);
        device->GetRemoteStationManager()->TraceConnectWithoutContext("MacTxFinalRtsFailed", MakeCallback(&RtsGivenUp));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&Sent));
        device->GetPhy()->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&RxDrop, device));
        device->GetPhy()->GetState()->TraceConnectWithoutContext("RxError", MakeBoundCallback(&RxError, device));
        Ptr<Ipv4L3Protocol> ip = nodes.Get(i)->GetObject<Ipv4L3Protocol>();
        device->SetReceiveCallback(MakeBoundCallback(&Later, ip));
        nodes.Get(i)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                   MakeBoundCallback(&QueueFull, i));
        ip->TraceConnectWithoutContext("SendOutgoing", MakeCallback(&IpSent));
        ip->TraceConnectWithoutContext("UnicastForward", MakeBoundCallback(&IpForwarded, i));
        ip->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&IpDelivered));
    }

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer sinks = sink.Install(nodes.Get(last));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(last), 5001));
    source.SetAttribute("SendSize", UintegerValue(SEGMENT));
    source.Install(nodes.Get(0));

    const auto start = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const uint64_t bytes = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    const double data = g_flight.Mean(DATA), acks = g_flight.Mean(ACK);
    std::cout << "{\"stations\": " << stations << ", \"rts\": \"" << rts << "\", \"ack\": \"" << ack
              << "\", \"tcp\": \"" << tcp << "\", \"window\": " << window << ", \"seed\": " << seed
              << ", \"goodput_segments\": " << bytes / SEGMENT << ", \"goodput_kbps\": " << bytes * 8 / seconds / 1000
              << ", \"sent_segments\": " << g_counts.sent[DATA] << ", ";
    PrintCounts("col", g_counts.col);
    PrintCounts("col_any", g_counts.any);
    PrintCounts("fail", g_counts.fail);
    std::cout << "\"rates\": {";
    for (const auto& [type, rates] : g_counts.rates)
    {
        std::cout << (type == g_counts.rates.begin()->first ? "" : ", ") << "\"" << type << "\": [";
        for (double rate : rates)
        {
            std::cout << (rate == *rates.begin() ? "" : ", ") << rate;
        }
        std::cout << "]";
    }
    std::cout << "}, ";
    std::cout << "\"in_flight\": {\"data\": " << data << ", \"ack\": " << acks << ", \"total\": " << data + acks
              << "}, \"queue_drops\": " << g_counts.queueDrops << ", \"wall_s\": " << wall.count() << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
