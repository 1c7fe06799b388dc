# SPDX-License-Identifier: BSD-3-Clause
"""How far a radio reaches under each propagation model, and with which power; and that it reaches so far. From 3 km on,
acknowledgements would come more than a slot later."""

from mn_wifi.link import adhoc, wmediumd
from mn_wifi.net import Mininet_wifi
from mn_wifi.wmediumdConnector import interference

for model, said in (("friis", {"sL": 10}), ("logDistance", {"exp": 4}), ("twoRayGround", {}), ("ITU", {"pL": 38})):
    net = Mininet_wifi(link=wmediumd, wmediumd_mode=interference)
    sta1, sta2 = net.addStation("sta1", position="0,0,0"), net.addStation("sta2", position="10,0,0")
    net.setPropagationModel(model=model, **said)
    net.configureNodes()
    for sta in (sta1, sta2):
        net.addLink(sta, cls=adhoc, ssid="adhocNet", mode="g", channel=5)
    net.build()
    far = sta1.wintfs[0].range
    lost = []
    for where in (0.95, 1.1):
        sta2.setPosition(f"{far * where},0,0")
        lost.append(round(net.ping([sta1, sta2])))
    sta1.setTxPower(20), sta2.setTxPower(20)
    lost.append(round(net.ping([sta1, sta2])))
    sta1.setRange(30), sta2.setRange(30)
    lost.append(round(net.ping([sta1, sta2])))
    print(model, round(far), lost, sta1.wintfs[0].range)
    net.stop()
