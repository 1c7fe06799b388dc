// SPDX-License-Identifier: BSD-3-Clause
// What the peers of 802.11n, ac and ax share in ns-3 (3.37): stations at one place in 5 GHz, at -40 dBm to each other, with
// one MCS and A-MPDUs as long as bytes and time let them. MCS of HT count from 0 for each number of streams.
#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <iostream>

using namespace ns3;

struct Mode
{
    std::string format = "ht";
    uint32_t mcs = 7, streams = 1, width = 20, seed = 1;
    double seconds = 2;

    void AddValues(CommandLine& command)
    {
        command.AddValue("format", "ht, vht or he", format);
        command.AddValue("mcs", "MCS", mcs);
        command.AddValue("streams", "spatial streams", streams);
        command.AddValue("width", "MHz", width);
        command.AddValue("seconds", "simulated seconds, after the start", seconds);
        command.AddValue("seed", "run number of the random streams", seed);
    }

    // Nothing is given up, no RTS and no block-ACK request is sent. `queue`: MPDUs; `guard`: ns.
    void SetDefaults(uint32_t queue, uint32_t window, uint32_t guard) const
    {
        RngSeedManager::SetRun(seed);
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(255));
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(255));
        Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
        Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
        Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(queue) + "p"));
        Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
        Config::SetDefault("ns3::HeConfiguration::MpduBufferSize", UintegerValue(window));
        Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(format == "he" ? guard : 3200)));
        Config::SetDefault("ns3::HtConfiguration::ShortGuardIntervalSupported", BooleanValue(guard == 400));
    }

    void Place(const NodeContainer& nodes) const
    {
        MobilityHelper mobility;
        mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(0), "DeltaY", DoubleValue(0));
        mobility.Install(nodes);
    }

    YansWifiPhyHelper Phy() const
    {
        YansWifiChannelHelper channel;
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-40));
        YansWifiPhyHelper phy;
        phy.SetChannel(channel.Create());
        phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
        for (const char* name : {"Antennas", "MaxSupportedTxSpatialStreams", "MaxSupportedRxSpatialStreams"})
        {
            phy.Set(name, UintegerValue(streams));
        }
        return phy;
    }

    WifiHelper Wifi() const
    {
        const bool ht = format == "ht", vht = format == "vht";
        WifiHelper wifi;
        wifi.SetStandard(ht ? WIFI_STANDARD_80211n : vht ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211ax);
        const std::string mode = ht    ? "HtMcs" + std::to_string(mcs + 8 * (streams - 1))
                                 : vht ? "VhtMcs" + std::to_string(mcs)
                                       : "HeMcs" + std::to_string(mcs);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "ControlMode",
                                     StringValue("OfdmRate24Mbps"));
        return wifi;
    }

    UintegerValue LongestAmpdu() const
    {
        return UintegerValue(format == "ht" ? 65535 : format == "vht" ? 1048575 : 6500631);
    }
};
