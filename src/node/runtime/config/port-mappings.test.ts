import { expect, it } from "vitest";
import type { ContainerPort } from "../../../api/gen/types.ts";
import { Protocol } from "../../../cri/gen/cri-v1.ts";
import { buildPortMappings } from "./port-mappings.ts";

const TCP = { protocol: Protocol.TCP, containerPort: 80, hostPort: 0, hostIp: "" };

it.each<{ why: string; ports: ContainerPort[]; expected: unknown[] }>([
  { why: "TCP without a host port", ports: [{ containerPort: 80 }], expected: [TCP] },
  {
    why: "protocol, host port and address",
    ports: [{ containerPort: 53, hostPort: 5353, hostIP: "192.0.2.2", protocol: "UDP" }],
    expected: [{ protocol: Protocol.UDP, containerPort: 53, hostPort: 5353, hostIp: "192.0.2.2" }],
  },
  { why: "SCTP", ports: [{ containerPort: 80, protocol: "SCTP" }], expected: [{ ...TCP, protocol: Protocol.SCTP }] },
  {
    why: "a name only once",
    ports: [
      { name: "a", containerPort: 80 },
      { name: "a", containerPort: 81 },
      { containerPort: 80 },
      { containerPort: 80 },
    ],
    expected: [TCP, TCP],
  },
  {
    why: "the same port in both address families",
    ports: [
      { containerPort: 80, hostPort: 80, hostIP: "192.0.2.2" },
      { containerPort: 80, hostPort: 80, hostIP: "::1" },
    ],
    expected: [
      { ...TCP, hostPort: 80, hostIp: "192.0.2.2" },
      { ...TCP, hostPort: 80, hostIp: "::1" },
    ],
  },
])("maps $why", ({ ports, expected }) => {
  expect(buildPortMappings({ spec: { containers: [{ name: "main", ports }] } })).toEqual(expected);
});
