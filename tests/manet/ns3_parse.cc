// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ns-3's own parsers make of control packets: each line is a protocol and the
 * payload of UDP in hexadecimal; told is the same again, as ns-3 writes what it has read.
 */
#include <iostream>
#include <sstream>

#include <ns3/aodv-packet.h>
#include <ns3/dsdv-packet.h>
#include <ns3/olsr-header.h>
#include <ns3/packet.h>

using namespace ns3;

template <class H> static void again(Ptr<Packet> in, Ptr<Packet> out)
{
	H header;

	if (!in->RemoveHeader(header))
		throw std::runtime_error("no header");
	Ptr<Packet> one = Create<Packet>();
	one->AddHeader(header);
	out->AddAtEnd(one);
}

static void read_aodv(Ptr<Packet> in, Ptr<Packet> out)
{
	aodv::TypeHeader type;

	in->PeekHeader(type);
	again<aodv::TypeHeader>(in, out);
	switch (type.Get()) {
	case aodv::AODVTYPE_RREQ:
		return again<aodv::RreqHeader>(in, out);
	case aodv::AODVTYPE_RREP:
		return again<aodv::RrepHeader>(in, out);
	case aodv::AODVTYPE_RERR:
		return again<aodv::RerrHeader>(in, out);
	case aodv::AODVTYPE_RREP_ACK:
		return again<aodv::RrepAckHeader>(in, out);
	}
}

static void read(const std::string &protocol, Ptr<Packet> in, Ptr<Packet> out)
{
	if (protocol == "olsr")
		again<olsr::PacketHeader>(in, out);
	do {
		if (protocol == "olsr")
			again<olsr::MessageHeader>(in, out);
		else if (protocol == "dsdv")
			again<dsdv::DsdvHeader>(in, out);
		else
			read_aodv(in, out);
	} while (in->GetSize());
}

int main()
{
	std::string protocol, hex;

	while (std::cin >> protocol >> hex) {
		std::vector<uint8_t> bytes;

		for (size_t at = 0; at < hex.size(); at += 2)
			bytes.push_back(std::stoul(hex.substr(at, 2), nullptr, 16));
		Ptr<Packet> in = Create<Packet>(bytes.data(), bytes.size()), out = Create<Packet>();
		read(protocol, in, out);
		bytes.resize(out->GetSize());
		out->CopyData(bytes.data(), bytes.size());
		for (uint8_t byte : bytes)
			std::cout << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
		std::cout << "\n";
	}
}
