import { expect, it } from "vitest";
import { resolveContainerPort } from "./container-port.ts";

const container = { name: "main", ports: [{ name: "web", containerPort: 8080 }, { containerPort: 9090 }] };

it.each([
  [80, { port: 80 }],
  ["web", { port: 8080 }],
  ["9091", { port: 9091 }],
  ["gone", { error: 'strconv.Atoi: parsing "gone": invalid syntax' }],
  [0, { error: "invalid port number: 0" }],
  [65_536, { error: "invalid port number: 65536" }],
  ["-1", { error: "invalid port number: -1" }],
])("port %j is %j", (asked, expected) => {
  expect(resolveContainerPort(asked, container)).toEqual(expected);
});
