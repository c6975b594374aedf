import { describe, expect, it } from "vitest";
import type { PluginDevice } from "../../../device-plugin/port.ts";
import { listNumaNodes } from "../topology/numa-mask.ts";
import { computeDeviceHints } from "./device-hints.ts";

type Input = Parameters<typeof computeDeviceHints>[0];

const device = (id: string, ...numaNodes: number[]): PluginDevice => ({ id, isHealthy: true, numaNodes });

function resourceOf(...devices: PluginDevice[]): Input["resource"] {
  const ids = devices.map(({ id }) => id);
  return { plugin: undefined, devices: new Map(devices.map((one) => [one.id, one])), healthy: new Set(ids) };
}

/** `01+` is a preferred hint for the nodes 0 and 1. */
function shown(input: Partial<Input>) {
  const resource = resourceOf(device("a", 0), device("b", 1), device("c", 1));
  const all = { resource, wanted: 1, present: [], inUse: new Set<string>(), reusable: [], machineNodes: [0, 1] };
  const hints = computeDeviceHints({ ...all, ...input });
  return hints?.map(({ nodes = 0n, isPreferred }) => `${listNumaNodes(nodes).join("")}${isPreferred ? "+" : ""}`);
}

describe("the hints of a resource", () => {
  it.each<[string, Partial<Input>, readonly string[] | undefined]>([
    ["name each node with a device", {}, ["0+", "1+", "01"]],
    ["name nodes with enough devices only", { wanted: 2 }, ["1+", "01"]],
    ["prefer all nodes where no fewer could do", { wanted: 3 }, ["01+"]],
    ["prefer no larger set for what is in use now", { wanted: 2, inUse: new Set(["b"]) }, ["01"]],
    ["are none where too much is in use", { wanted: 3, inUse: new Set(["a"]) }, []],
    ["are of no matter where no device has a node", { resource: resourceOf(device("a"), device("b")) }, undefined],
    ["follow what the container has", { wanted: 2, present: ["b", "c"], inUse: new Set(["b", "c"]) }, ["1+", "01"]],
    ["are none where the container has another number", { wanted: 2, present: ["b"] }, []],
    ["have all of what init containers leave", { reusable: ["a"], inUse: new Set(["a"]) }, ["0+", "01"]],
    ["do not know nodes that the machine has not", { resource: resourceOf(device("a", 7), device("b", 1)) }, ["1+"]],
    ["leave out nodes without such a device", { machineNodes: [0, 1, 2, 3] }, ["0+", "1+", "01"]],
  ])("%s", (_what, input, hints) => {
    expect(shown(input)).toEqual(hints);
  });
});
