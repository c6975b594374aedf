import { describe, expect, it } from "vitest";
import { CodedError } from "../../../base/errors.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import type { Plugin } from "../plugins/plugin-handler.ts";
import { createStubDrivers, nodeInfo, plugin } from "./__fixtures__/stub-drivers.ts";
import { createCsiDriverRegistry } from "./csi-driver-registry.ts";

function createRig(labels?: Record<string, string>) {
  const clock = createFakeClock();
  const stubs = createStubDrivers(clock);
  const registry = createCsiDriverRegistry({
    clock,
    connect: stubs.connect,
    nodeLabels: () => labels,
  });
  const told: string[] = [];
  registry.subscribe((name) => told.push(name));
  const signal = new AbortController().signal;
  return {
    ...stubs,
    clock,
    registry,
    told,
    register: async (wanted: Plugin, ended = signal) => registry.handler.register(wanted, ended),
    add: async (wanted: Plugin, info = nodeInfo(`id of ${wanted.name}`)) => {
      stubs.drivers.set(wanted.endpoint, { info });
      await registry.handler.register(wanted, signal);
      return wanted;
    },
  };
}

describe("a driver", () => {
  it("is there from when it said what it is until it is gone, and each is told", async () => {
    const rig = createRig();
    const a = await rig.add(plugin("a.example"), nodeInfo("n", { maxVolumes: 3n }));
    expect(rig.registry.get("a.example")).toMatchObject({
      name: "a.example",
      nodeInfo: { nodeId: "n", maxVolumes: 3n },
      capabilities: new Set(["STAGE_UNSTAGE_VOLUME"]),
    });
    expect(rig.registry.facts()).toEqual({
      drivers: new Map([["a.example", nodeInfo("n", { maxVolumes: 3n })]]),
      removed: new Set(),
    });
    rig.registry.handler.deregister(a);
    expect(rig.registry.get("a.example")).toBeUndefined();
    expect(rig.registry.facts()).toEqual({ drivers: new Map(), removed: new Set(["a.example"]) });
    expect(rig.told).toEqual(["a.example", "a.example"]);
    expect(rig.open).toEqual([]);
  });

  it("is no longer among the removed when it comes again", async () => {
    const rig = createRig();
    rig.registry.handler.deregister(await rig.add(plugin("a")));
    await rig.add(plugin("a"));
    expect(rig.registry.facts().removed).toEqual(new Set());
  });

  it("that does not listen yet is asked again, for two minutes at most", async () => {
    const rig = createRig();
    const early = rig.register(plugin("early"));
    await rig.clock.advance(1_000);
    rig.drivers.set("/plugins/early", { info: nodeInfo("n") });
    await rig.clock.advance(1_000);
    await early;

    const never = rig.register(plugin("never"));
    const rejection = expect(never).rejects.toMatchObject({ code: "unavailable" });
    await rig.clock.advance(120_000);
    await rejection;
    expect(rig.registry.list().map(({ name }) => name)).toEqual(["early"]);
    expect(rig.open).toEqual(["/plugins/early"]);
  });

  it.each<[what: string, change: Partial<Plugin>, info: unknown, message: string]>([
    ["gives the node no ID", {}, nodeInfo(""), "error adding CSI driver node info: driverNodeID must not be empty"],
    [
      "gives the node an ID that the API does not take",
      {},
      nodeInfo("x".repeat(257)),
      "error adding CSI driver node info: driverNodeID must have at most 256 bytes, and has 257",
    ],
    [
      "has more topology labels than a node can have",
      {},
      nodeInfo("n", { topology: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, "v"])) }),
      "driver reported 10000 topology labels, and no more than 64 are taken",
    ],
    ["fails", {}, new CodedError("internal", "no metadata service"), "no metadata service"],
    ["is at no possible endpoint", { endpoint: "/invalid" }, nodeInfo("n"), "no such path"],
    [
      "contradicts a label of the node",
      {},
      nodeInfo("n", { topology: { zone: "b" } }),
      'error updating Node object with CSI driver node info: detected topology value collision: driver reported "zone":"b" but existing label is "zone":"a"',
    ],
    [
      "wants a label that no node may have",
      {},
      nodeInfo("n", { topology: { "kubernetes.io/x": "b" } }),
      'error updating Node object with CSI driver node info: driver reported the topology label "kubernetes.io/x", which no node may set',
    ],
  ])("that %s is refused, and its client closed", async (_what, change, info, message) => {
    const rig = createRig({ zone: "a" });
    const wanted = plugin("a", change);
    rig.drivers.set(wanted.endpoint, { info: info instanceof Error ? info : nodeInfo("n", { ...Object(info) }) });
    await expect(rig.register(wanted)).rejects.toThrow(message);
    expect(rig.open).toEqual([]);
    expect(rig.registry.list()).toEqual([]);
    expect(rig.told).toEqual([]);
  });

  it("that does not tell its capabilities is refused", async () => {
    const rig = createRig();
    rig.drivers.set("/plugins/a", { info: nodeInfo("n"), capabilities: new Error("no capabilities") });
    await expect(rig.register(plugin("a"))).rejects.toThrow("no capabilities");
    expect(rig.open).toEqual([]);
  });

  it("that contradicts another driver is refused, before any node object is known", async () => {
    const rig = createRig(undefined);
    await rig.add(plugin("a"), nodeInfo("n", { topology: { zone: "a" } }));
    await expect(rig.add(plugin("b"), nodeInfo("n", { topology: { zone: "b" } }))).rejects.toThrow("collision");
  });

  it("whose socket goes while it is asked leaves nothing behind", async () => {
    const rig = createRig();
    rig.drivers.set("/plugins/a", { info: "hang" });
    const gone = new AbortController();
    const registration = rig.register(plugin("a"), gone.signal);
    const rejection = expect(registration).rejects.toMatchObject({ name: "AbortError" });
    await rig.clock.settle();
    gone.abort();
    await rejection;
    expect(rig.open).toEqual([]);
  });

  it("that answers after its socket went is not registered", async () => {
    const rig = createRig();
    const gone = new AbortController();
    let answer: () => void = () => undefined;
    rig.drivers.set("/plugins/a", {
      info: nodeInfo("n"),
      capabilities: new Promise((resolve) => {
        answer = resolve;
      }),
    });
    const rejection = expect(rig.register(plugin("a"), gone.signal)).rejects.toMatchObject({ name: "AbortError" });
    await rig.clock.settle();
    gone.abort();
    answer();
    await rejection;
    expect(rig.registry.list()).toEqual([]);
    expect(rig.open).toEqual([]);
  });

  it("finishes its calls before its client is closed", async () => {
    const rig = createRig();
    const a = await rig.add(plugin("a"));
    let finish: () => void = () => undefined;
    rig.drivers.set("/plugins/a", { info: nodeInfo("n"), unpublish: new Promise((resolve) => (finish = resolve)) });
    const call = rig.registry.get("a")?.node.unpublish({ volumeId: "v", targetPath: "/t" });
    rig.registry.handler.deregister(a);
    await rig.clock.settle();
    expect(rig.open).toEqual(["/plugins/a"]);
    finish();
    await call;
    expect(rig.open).toEqual([]);
  });
});

describe("two plugins of one name", () => {
  const one = plugin("a", { socketPath: "/registry/one", endpoint: "/one" });
  const two = plugin("a", { socketPath: "/registry/two", endpoint: "/two" });

  it("have the newest serve, and the other when the newest is gone", async () => {
    const rig = createRig();
    await rig.add(one, nodeInfo("1"));
    await rig.add(two, nodeInfo("2"));
    expect(rig.registry.get("a")?.nodeInfo.nodeId).toBe("2");
    rig.registry.handler.deregister(two);
    expect(rig.registry.get("a")?.nodeInfo.nodeId).toBe("1");
    expect(rig.registry.facts().removed).toEqual(new Set());
    expect(rig.told).toEqual(["a", "a", "a"]);
    expect(rig.open).toEqual(["/one"]);
  });

  it("lose the older without a change", async () => {
    const rig = createRig();
    await rig.add(one);
    await rig.add(two, nodeInfo("2"));
    rig.told.length = 0;
    rig.registry.handler.deregister(one);
    expect(rig.registry.get("a")?.nodeInfo.nodeId).toBe("2");
    expect(rig.told).toEqual([]);
    expect(rig.open).toEqual(["/two"]);
  });

  it("have the one of the lower version refused, in upstream's words", async () => {
    const rig = createRig();
    await rig.add({ ...one, supportedVersions: ["1.1.0"] });
    const words =
      'for CSI driver "a" failed. Another driver with the same name is already registered with a higher supported version: "1.1.0"';
    expect(rig.registry.handler.validate(two)).toBe(
      `validation failed for CSI Driver a at endpoint /two: kubernetes.io/csi: ValidatePlugin ${words}`,
    );
    await expect(rig.add(two)).rejects.toThrow(`kubernetes.io/csi: RegisterPlugin ${words}`);
  });

  it("of one socket are an old and a new one, which may be of a lower version", async () => {
    const rig = createRig();
    const old = await rig.add({ ...one, supportedVersions: ["1.1.0"] });
    const young = await rig.add({ ...two, socketPath: one.socketPath }, nodeInfo("2"));
    rig.registry.handler.deregister(old);
    expect(rig.registry.get("a")?.nodeInfo.nodeId).toBe("2");
    rig.registry.handler.deregister(young);
    expect(rig.registry.get("a")).toBeUndefined();
  });

  it("are compared again when the lower one took its time", async () => {
    const rig = createRig();
    const slow = rig.register(one);
    const rejection = expect(slow).rejects.toThrow("higher supported version");
    await rig.clock.settle();
    await rig.add({ ...two, supportedVersions: ["1.1.0"] });
    rig.drivers.set("/one", { info: nodeInfo("1") });
    await rig.clock.advance(1_000);
    await rejection;
    expect(rig.open).toEqual(["/two"]);
  });
});

it.each<[change: Partial<Plugin>, problem: string]>([
  [
    { supportedVersions: [] },
    'kubernetes.io/csi: ValidatePlugin for CSI driver "a" failed. Plugin returned an empty list for supported versions',
  ],
  [
    { supportedVersions: ["0.3.0", "2.0.0"] },
    'kubernetes.io/csi: ValidatePlugin for CSI driver "a" failed. None of the versions specified ["0.3.0" "2.0.0"] are supported. err=highest supported version reported is 0.3.0, must be v1.x',
  ],
  [{ endpoint: "csi.sock" }, "the endpoint must be an absolute path"],
])("a plugin with %j is not valid", (change, problem) => {
  const wanted = plugin("a", change);
  expect(createRig().registry.handler.validate(wanted)).toBe(
    `validation failed for CSI Driver a at endpoint ${wanted.endpoint}: ${problem}`,
  );
});

it.each(["", "..", "a/b", "a_b", "x".repeat(64)])("a driver cannot be called %j", (name) => {
  expect(createRig().registry.handler.validate(plugin(name))).toContain("invalid driver name: ");
});

it.each(["ebs.csi.aws.com", "Disk.CSI.Azure.com", "x".repeat(63)])("a driver can be called %j", (name) => {
  expect(createRig().registry.handler.validate(plugin(name))).toBeUndefined();
});

describe("asking a driver again", () => {
  const signal = new AbortController().signal;

  it("tells what changed, and only then", async () => {
    const rig = createRig();
    await rig.add(plugin("a"), nodeInfo("n", { maxVolumes: 3n }));
    await rig.registry.refresh("a", signal);
    expect(rig.told).toEqual(["a"]);
    rig.drivers.set("/plugins/a", { info: nodeInfo("n", { maxVolumes: 2n }) });
    await rig.registry.refresh("a", signal);
    expect(rig.told).toEqual(["a", "a"]);
    expect(rig.registry.get("a")?.nodeInfo.maxVolumes).toBe(2n);
    expect(rig.open).toEqual(["/plugins/a"]);
  });

  it("changes nothing when the driver fails, is unknown, or is replaced meanwhile", async () => {
    const rig = createRig();
    await rig.registry.refresh("a", signal);
    const a = await rig.add(plugin("a"), nodeInfo("n", { maxVolumes: 3n }));
    rig.drivers.set("/plugins/a", { info: new Error("broken") });
    await expect(rig.registry.refresh("a", signal)).rejects.toThrow("broken");
    rig.drivers.set("/plugins/a", { info: nodeInfo("n", { maxVolumes: 1n }) });
    const late = rig.registry.refresh("a", signal);
    rig.registry.handler.deregister(a);
    await late;
    expect(rig.registry.get("a")).toBeUndefined();
  });
});

it("an answer that comes after a newer plugin took over changes nothing", async () => {
  const rig = createRig();
  await rig.add(plugin("a"), nodeInfo("old"));
  let answer: () => void = () => undefined;
  const infoAfter = new Promise<void>((resolve) => {
    answer = resolve;
  });
  rig.drivers.set("/plugins/a", { info: nodeInfo("old", { maxVolumes: 1n }), infoAfter });
  const stale = rig.registry.refresh("a", new AbortController().signal);
  await rig.add(plugin("a", { endpoint: "/young", socketPath: "/young.sock" }), nodeInfo("young"));
  answer();
  await stale;
  expect(rig.registry.get("a")?.nodeInfo.nodeId).toBe("young");
});

it("closes every client at the end, those that stand by too", async () => {
  const rig = createRig();
  await rig.add(plugin("a", { socketPath: "/1", endpoint: "/1" }));
  await rig.add(plugin("a", { socketPath: "/2", endpoint: "/2" }));
  await rig.add(plugin("b"));
  rig.registry.close();
  expect(rig.open).toEqual([]);
  expect(rig.registry.facts().removed).toEqual(new Set());
});
