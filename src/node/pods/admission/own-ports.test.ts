import { expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { createOwnPortsHandler, listOwnPorts } from "./own-ports.ts";

type Port = NonNullable<Container["ports"]>[number];
const podWith = (port: Port, spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod => ({
  spec: { containers: [{ name: "main", ports: [port] }], ...spec },
});

it.each<[string, Pod, boolean]>([
  ["a port that the node uses", podWith({ containerPort: 80, hostPort: 10_250 }), true],
  ["it at one address", podWith({ containerPort: 80, hostPort: 6_443, hostIP: "127.0.0.1" }), true],
  ["another port", podWith({ containerPort: 10_250, hostPort: 8_080 }), false],
  ["no host port", podWith({ containerPort: 10_250 }), false],
  ["it over UDP", podWith({ containerPort: 80, hostPort: 10_250, protocol: "UDP" }), false],
  ["it in the node's network", podWith({ containerPort: 6_443, hostPort: 6_443 }, { hostNetwork: true }), false],
])("of pods with host ports, %s is refused: %#", (_what, pod, isRefused) => {
  const rejection = createOwnPortsHandler([10_250, 6_443])(pod);
  expect(rejection?.reason).toBe(isRefused ? "NodePorts" : undefined);
});

it.each([
  ["https://127.0.0.1:6443", [10_250, 10_248, 6_443]],
  ["https://localhost", [10_250, 10_248, 443]],
  ["https://192.0.2.1:6443", [10_250, 10_248]],
  [undefined, [10_250, 10_248]],
])("the ports of a node with the API server %s are %j", (server, ports) => {
  expect(listOwnPorts({ port: 10_250, readOnlyPort: 0, healthzPort: 10_248 }, server)).toEqual(ports);
});
