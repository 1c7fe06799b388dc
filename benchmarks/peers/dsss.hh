// SPDX-License-Identifier: BSD-3-Clause
// What the peers of 802.11b at 2 Mb/s share in ns-3 (3.37): control frames at 1 Mb/s, two-ray ground with ns-2's ranges
// (250 m reception, 550 m carrier sense), and TCP in segments of 1460 B over static routes.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/dsss-phy.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/wifi-module.h"

#include <iostream>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1460;
constexpr double TX_DBM = 24.5;     // 0.28183815 W
constexpr double RX_DBM = -64.375;  // two-ray ground at 250 m: 3.652e-10 W
constexpr double CS_DBM = -78.072;  // at 550 m: 1.559e-11 W

// Retry limits 7 and 4, queues of 50, NewReno. `rtsThreshold`: bytes; `window`: segments; `perAck`: segments for each ACK.
[[maybe_unused]] void
SetDefaults(uint32_t rtsThreshold, uint32_t window, uint32_t perAck, bool sack)
{
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rtsThreshold));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::MinimumRssi", DoubleValue(RX_DBM));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::Threshold", DoubleValue(-3));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(perAck));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

NetDeviceContainer
InstallRadios(const NodeContainer& nodes)
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6),
                               "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    for (const char* power : {"TxPowerStart", "TxPowerEnd"})
    {
        phy.Set(power, DoubleValue(TX_DBM));
    }
    for (const char* threshold : {"RxSensitivity", "CcaEdThreshold", "CcaSensitivity"})
    {
        phy.Set(threshold, DoubleValue(CS_DBM));
    }
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel");
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate2Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"), "NonUnicastMode",
                                 StringValue("DsssRate1Mbps"));
    return wifi.Install(phy, mac, nodes);
}

[[maybe_unused]] void
OnlyBasicRate(Ptr<WifiRemoteStationManager> manager, const NetDeviceContainer& devices)
{
    manager->AddBasicMode(DsssPhy::GetDsssRate1Mbps());
    for (uint32_t i = 0; i < devices.GetN(); i++)
    {
        const Mac48Address station = DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->GetAddress();
        manager->AddSupportedMode(station, DsssPhy::GetDsssRate1Mbps());
        manager->AddSupportedMode(station, DsssPhy::GetDsssRate2Mbps());
        manager->RecordDisassociated(station); // known, and so no longer met
    }
}

// Static routes between the ends of a string of stations, from one to the next.
[[maybe_unused]] void
AddRoutes(const NodeContainer& nodes, const Ipv4InterfaceContainer& interfaces, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
    {
        Ptr<Ipv4StaticRouting> table = Ipv4StaticRoutingHelper().GetStaticRouting(nodes.Get(i)->GetObject<Ipv4>());
        if (i + 1 < last)
        {
            table->AddHostRouteTo(interfaces.GetAddress(last), interfaces.GetAddress(i + 1), 1);
        }
        if (i > first + 1)
        {
            table->AddHostRouteTo(interfaces.GetAddress(first), interfaces.GetAddress(i - 1), 1);
        }
    }
}

} // namespace
