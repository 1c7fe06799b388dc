# SPDX-License-Identifier: BSD-3-Clause
"""An application of os-ken: switches learn addresses, and forget the flows to a station that comes in elsewhere."""

from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class Handover(OSKenApp):
    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ports = {}

    def change(self, switch, command, match, priority=1, port=None):
        parser, proto = switch.ofproto_parser, switch.ofproto
        actions = [parser.OFPActionOutput(port, proto.OFPCML_NO_BUFFER)] if port else []
        does = [parser.OFPInstructionActions(proto.OFPIT_APPLY_ACTIONS, actions)]
        switch.send_msg(
            parser.OFPFlowMod(switch, command=command, match=match, priority=priority, instructions=does,
                              out_port=proto.OFPP_ANY, out_group=proto.OFPG_ANY)
        )  # fmt: skip

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def begin(self, event):
        switch = event.msg.datapath
        proto = switch.ofproto
        self.change(switch, proto.OFPFC_ADD, switch.ofproto_parser.OFPMatch(), 0, proto.OFPP_CONTROLLER)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def packet_in(self, event):
        message, switch = event.msg, event.msg.datapath
        parser, proto = switch.ofproto_parser, switch.ofproto
        frame, port = packet.Packet(message.data).get_protocol(ethernet.ethernet), message.match["in_port"]
        before = self.ports.get((switch.id, frame.src), port)
        self.ports[switch.id, frame.src] = port
        if before != port:
            print(f"{switch.id:x} moves {frame.src} to {port}", flush=True)
            self.change(switch, proto.OFPFC_DELETE, parser.OFPMatch(eth_dst=frame.src))
            self.change(switch, proto.OFPFC_DELETE, parser.OFPMatch(eth_src=frame.src))
        to = self.ports.get((switch.id, frame.dst), proto.OFPP_FLOOD)
        if to != proto.OFPP_FLOOD:
            match = parser.OFPMatch(in_port=port, eth_src=frame.src, eth_dst=frame.dst)
            self.change(switch, proto.OFPFC_ADD, match, port=to)
        out = [parser.OFPActionOutput(to)]
        switch.send_msg(parser.OFPPacketOut(switch, proto.OFP_NO_BUFFER, port, out, message.data))
