import { describe, expect, it } from "vitest";
import type { PluginDevice, PreferredAllocation } from "../../../device-plugin/port.ts";
import { chooseDevices, type DeviceWish } from "./choose-devices.ts";

const device = (id: string, numaNodes: number[] = []): PluginDevice => ({ id, isHealthy: true, numaNodes });

function resourceOf(devices: readonly PluginDevice[], healthy = devices.map(({ id }) => id)): DeviceWish["resource"] {
  return { plugin: undefined, devices: new Map(devices.map((one) => [one.id, one])), healthy: new Set(healthy) };
}

const FOUR = resourceOf(["a", "b", "c", "d"].map((id) => device(id)));
const TWO_NODES = resourceOf([device("a", [0]), device("b", [1]), device("c", [1]), device("d")]);
const WISH: DeviceWish = {
  resourceName: "example.com/device",
  resource: FOUR,
  wanted: 2,
  present: undefined,
  inUse: new Set(),
  reusable: [],
  numaNodes: undefined,
  podUid: "uid-1",
  container: "main",
};

interface Case {
  readonly wish: Partial<DeviceWish>;
  readonly preferred?: readonly string[];
  readonly chosen: readonly string[];
  readonly asked?: PreferredAllocation;
}

describe("the choice of devices", () => {
  it.each<[string, Case]>([
    ["takes what is free", { wish: { inUse: new Set(["a", "c"]) }, chosen: ["b", "d"] }],
    ["takes nothing more for a container that has its own", { wish: { present: ["a", "b"] }, chosen: [] }],
    ["takes those of init containers first", { wish: { reusable: ["d"], inUse: new Set(["d"]) }, chosen: ["d", "a"] }],
    ["takes only as many as it needs of init containers", { wish: { reusable: ["c", "d"], wanted: 1 }, chosen: ["c"] }],
    [
      "follows the plugin's preference",
      {
        wish: { inUse: new Set(["a"]) },
        preferred: ["d", "c"],
        chosen: ["d", "c"],
        asked: { available: ["b", "c", "d"], mustInclude: [], size: 2 },
      },
    ],
    [
      "fills up what the plugin does not prefer, and ignores what it may not have",
      { wish: { inUse: new Set(["a"]) }, preferred: ["a", "d", "unknown"], chosen: ["d", "b"] },
    ],
    [
      "tells the plugin what is taken already",
      {
        wish: { reusable: ["d"], inUse: new Set(["d"]), wanted: 2 },
        preferred: ["d", "b"],
        chosen: ["d", "b"],
        asked: { available: ["a", "b", "c", "d"], mustInclude: ["d"], size: 2 },
      },
    ],
    ["takes aligned devices", { wish: { resource: TWO_NODES, numaNodes: new Set([1]) }, chosen: ["b", "c"] }],
    [
      "lets the plugin choose among aligned devices only",
      {
        wish: { resource: TWO_NODES, numaNodes: new Set([1]), wanted: 1 },
        preferred: ["a", "c"],
        chosen: ["c"],
        asked: { available: ["b", "c"], mustInclude: [], size: 1 },
      },
    ],
    [
      "takes others where the aligned ones do not suffice",
      { wish: { resource: TWO_NODES, numaNodes: new Set([0]), wanted: 4 }, chosen: ["a", "b", "c", "d"] },
    ],
  ])("%s", async (_what, { wish, preferred, chosen, asked }) => {
    const requests: PreferredAllocation[] = [];
    const choice = await chooseDevices({ ...WISH, ...wish }, async (request) => {
      requests.push(request);
      return preferred;
    });
    expect(choice).toEqual({ ok: true, chosen });
    if (asked !== undefined) expect(requests).toEqual([asked]);
  });

  it.each<[string, Partial<DeviceWish>, string]>([
    ["an unknown resource", { resource: undefined }, "cannot allocate unregistered device example.com/device"],
    [
      "devices that are all unhealthy",
      { resource: resourceOf([device("a")], []) },
      "no healthy devices present; cannot allocate unhealthy devices example.com/device",
    ],
    [
      "too many devices",
      { wanted: 3, inUse: new Set(["a", "b"]) },
      "requested number of devices unavailable for example.com/device. Requested: 3, Available: 2",
    ],
    [
      "devices that have become unhealthy",
      { present: ["a", "b"], resource: resourceOf([device("a"), device("b")], ["b"]) },
      "previously allocated devices are no longer healthy; cannot allocate unhealthy devices example.com/device",
    ],
    [
      "another number than the container has",
      { present: ["a"] },
      'pod "uid-1" container "main" changed request for resource "example.com/device" from 1 to 2',
    ],
  ])("refuses %s in upstream's words", async (_what, wish, error) => {
    expect(await chooseDevices({ ...WISH, ...wish }, async () => undefined)).toEqual({ ok: false, error });
  });
});
