// SPDX-License-Identifier: BSD-3-Clause
/*
 * TXTIME in ns-3 (3.37), a peer for dcflab's modes. Each line of the standard input is a PPDU:
 *
 *     ht|vht|he MCS STREAMS WIDTH GUARD_NS BYTES
 *
 * and each line of the output its duration in nanoseconds at 5 GHz, or 0 where ns-3 has no such mode. MCS of HT count from
 * 0 for each number of streams.
 *
 * Build:  g++ -O2 -o txtime-ns3 txtime.cc -lns3-{wifi,network,core}
 */
#include "ns3/core-module.h"
#include "ns3/he-phy.h"
#include "ns3/ht-phy.h"
#include "ns3/vht-phy.h"
#include "ns3/wifi-phy.h"

#include <iostream>

using namespace ns3;

int
main()
{
    std::string format;
    unsigned mcs, streams, width, guard, bytes;
    while (std::cin >> format >> mcs >> streams >> width >> guard >> bytes)
    {
        const bool ht = format == "ht", vht = format == "vht";
        WifiTxVector v;
        v.SetMode(ht ? HtPhy::GetHtMcs(mcs + 8 * (streams - 1)) : vht ? VhtPhy::GetVhtMcs(mcs) : HePhy::GetHeMcs(mcs));
        v.SetPreambleType(ht ? WIFI_PREAMBLE_HT_MF : vht ? WIFI_PREAMBLE_VHT_SU : WIFI_PREAMBLE_HE_SU);
        v.SetChannelWidth(width);
        v.SetGuardInterval(guard);
        v.SetNss(streams);
        std::cout << (v.IsValid() ? WifiPhy::CalculateTxDuration(bytes, v, WIFI_PHY_BAND_5GHZ).GetNanoSeconds() : 0) << "\n";
    }
}
