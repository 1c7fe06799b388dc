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
 * less than 255 attempts.
 */
#include "ht.hh"

int
main(int argc, char* argv[])
{
    const uint32_t body = 1526 - 4 - 26 - 8;
    Mode mode;
    std::string agree = "before";
    uint32_t guard = 800, window = 64, stations = 5;
    double loss = 0;
    CommandLine command(__FILE__);
    mode.AddValues(command);
    command.AddValue("guard", "guard interval, ns", guard);
    command.AddValue("window", "MPDUs in an A-MPDU at most, 64 or 256", window);
    command.AddValue("stations", "how many send", stations);
    command.AddValue("loss", "probability that the sink loses an MPDU", loss);
    command.AddValue("agree", "when agreements are made: before the load begins, or under-load", agree);
    command.Parse(argc, argv);
    mode.SetDefaults(4 * window, window, guard);

    NodeContainer nodes(stations + 1); // the sink is the last
    mode.Place(nodes);
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true), "BE_MaxAmpduSize", mode.LongestAmpdu());
    NetDeviceContainer devices = mode.Wifi().Install(mode.Phy(), mac, nodes);
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
    Simulator::Stop(counted + Seconds(mode.seconds));
    Simulator::Run();
    std::cout << acked / mode.seconds << std::endl;
    Simulator::Destroy();
}
