# SPDX-License-Identifier: BSD-3-Clause
"""An application that was written for Ryu, with a REST interface: it says which switches there are, and takes flows."""

import json

from ryu.base import app_manager
from ryu.controller import ofp_event
from ryu.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.lib import hub
from ryu.ofproto import ofproto_v1_3


class Rest(app_manager.RyuApp):
    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.switches = {}
        hub.spawn(hub.WSGIServer(("127.0.0.1", 8080), self.answer).serve_forever)

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def connected(self, event):
        self.switches[event.msg.datapath.id] = event.msg.datapath

    def answer(self, environ, start_response):
        start_response("200 OK", [("Content-Type", "application/json")])
        if environ["REQUEST_METHOD"] == "GET":
            return [json.dumps(sorted(self.switches)).encode()]
        flow = json.loads(environ["wsgi.input"].read())
        switch = self.switches[flow["dpid"]]
        parser, protocol = switch.ofproto_parser, switch.ofproto
        for a, b in (flow["ports"], reversed(flow["ports"])):
            apply = parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(b)])
            switch.send_msg(parser.OFPFlowMod(switch, match=parser.OFPMatch(in_port=a), instructions=[apply]))
        return [b"{}"]
