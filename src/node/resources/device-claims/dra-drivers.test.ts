import { afterEach, describe, expect, it } from "vitest";
import { SECOND } from "../../../base/clock.ts";
import { createClaimRig, DRIVER, makeClaim, makeContainer, makePod } from "./__fixtures__/claim-rig.ts";

type Rig = Awaited<ReturnType<typeof createClaimRig>>;
const rigs: Rig[] = [];
afterEach(async () => {
  for (const { stop } of rigs.splice(0)) await stop();
});

async function startRig(): Promise<Rig> {
  const rig = await createClaimRig();
  rigs.push(rig);
  return rig;
}

const PLUGIN = {
  type: "DRAPlugin",
  name: DRIVER,
  endpoint: "/run/x.sock",
  socketPath: "/registry/x.sock",
  supportedVersions: ["v1.DRAPlugin"],
};
const PREFIX = `invalid supported gRPC versions of DRA driver plugin ${DRIVER} at endpoint /run/x.sock`;

describe("a plugin of a driver", () => {
  it.each([
    [{ supportedVersions: ["v1beta1.DRAPlugin"] }, undefined],
    [{ supportedVersions: ["v2.DRAPlugin", "v1.DRAPlugin"] }, undefined],
    [{ supportedVersions: [] }, `${PREFIX}: empty list of supported gRPC services (aka supported versions)`],
    [
      { supportedVersions: ["1.0.0"] },
      `${PREFIX}: none of services supported by the plugin (["1.0.0"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])`,
    ],
    [{ name: "No Name" }, expect.stringContaining('invalid name of a DRA driver: "No Name"')],
  ])("is taken or refused by its versions and name: %j", async (change, problem) => {
    const { handler } = await startRig();
    expect(handler.validate({ ...PLUGIN, ...change })).toEqual(problem);
  });

  it("serves in the newest version that it has", async () => {
    const rig = await startRig();
    const { fake } = await rig.register({ version: "v1.DRAPlugin" });
    rig.claims.set("gpu", makeClaim("gpu"));
    await rig.prepare(makePod(["gpu"]));
    expect(fake.calls).toHaveLength(1);
  });

  it("cannot have the endpoint of another, but may be made anew at its own socket", async () => {
    const rig = await startRig();
    const { plugin } = await rig.register();
    const stranger = { ...plugin, socketPath: "/registry/other.sock" };
    await expect(rig.handler.register(stranger, rig.signal)).rejects.toThrow(
      `endpoint ${plugin.endpoint} already registered for DRA driver plugin ${DRIVER}`,
    );
    await rig.handler.register({ ...plugin }, rig.signal);
  });

  it("that is the newest serves; while it is not connected, the one before it; and again when it has gone", async () => {
    const rig = await startRig();
    for (const name of ["a", "b", "c", "d"]) rig.claims.set(name, makeClaim(name, { reservedFor: [`uid-of-${name}`] }));
    const prepare = async (name: string) => await rig.prepare(makePod([name], `uid-of-${name}`));
    const { fake: old } = await rig.register({ socket: "/run/old.sock" });
    const { fake: young, plugin } = await rig.register({ socket: "/run/new.sock" });
    await prepare("a");
    young.stop();
    await prepare("b");
    young.start();
    await prepare("c");
    rig.handler.deregister(plugin);
    await prepare("d");
    expect(young.calls.map(([, claim]) => claim)).toEqual(["a", "c"]);
    expect(old.calls.map(([, claim]) => claim)).toEqual(["b", "d"]);
    expect(rig.wiped).toEqual(["all"]);
  });
});

describe("the slices", () => {
  it("of all drivers are deleted at the start, because none has registered yet", async () => {
    expect((await startRig()).wiped).toEqual(["all"]);
  });

  it.each([
    ["that has gone", (rig: Rig, { plugin }: Awaited<ReturnType<Rig["register"]>>) => rig.handler.deregister(plugin)],
    ["that has died", (_rig: Rig, { fake }: Awaited<ReturnType<Rig["register"]>>) => fake.stop()],
  ])("of a driver %s are deleted after half a minute", async (_how, end) => {
    const rig = await startRig();
    end(rig, await rig.register());
    await rig.host.clock.advance(30 * SECOND - 1);
    expect(rig.wiped).toEqual(["all"]);
    await rig.host.clock.advance(1);
    expect(rig.wiped).toEqual(["all", DRIVER]);
  });

  it("of a driver that is back by then stay", async () => {
    const rig = await startRig();
    const { plugin, fake } = await rig.register();
    rig.handler.deregister(plugin);
    await rig.host.clock.advance(29 * SECOND);
    await rig.register();
    fake.stop();
    await rig.host.clock.advance(60 * SECOND);
    expect(rig.wiped).toEqual(["all"]);
  });
});

describe("the health of devices", () => {
  const HEALTH = { poolName: "pool", deviceName: "gpu", message: "", timeoutMs: undefined } as const;
  const container = makeContainer({ name: "gpu" });
  const prepared = async () => {
    const rig = await startRig();
    const registered = await rig.register();
    rig.claims.set("gpu", makeClaim("gpu"));
    const pod = makePod(["gpu"]);
    await rig.prepare(pod);
    rig.changed.length = 0;
    const read = () => rig.healthOf(pod, container).flatMap(({ resources = [] }) => resources);
    return { rig, pod, read, ...registered };
  };

  it("is told in the container's status, and its pods are looked at when it changes", async () => {
    const { rig, pod, fake, read } = await prepared();
    const resourceID = "example.com/device=gpu";
    expect(rig.healthOf(pod, container)).toEqual([
      { name: "claim:gpu", resources: [{ resourceID, health: "Unknown" }] },
    ]);
    fake.tellHealth([
      { ...HEALTH, health: "Healthy" },
      { ...HEALTH, deviceName: "other", health: "Unhealthy" },
    ]);
    await rig.host.clock.settle();
    expect(read()).toEqual([{ resourceID, health: "Healthy" }]);
    fake.tellHealth([{ ...HEALTH, health: "Unhealthy", message: "x".repeat(2_000) }]);
    await rig.host.clock.settle();
    expect(read()).toEqual([{ resourceID, health: "Unhealthy", message: `${"x".repeat(1_021)}...` }]);
    expect(rig.changed).toEqual(["uid-1", "uid-1"]);
    fake.tellHealth([{ ...HEALTH, health: "Unhealthy", message: "x".repeat(2_000) }]);
    await rig.host.clock.settle();
    expect(rig.changed).toHaveLength(2);
    expect(rig.healthOf(pod, makeContainer())).toEqual([]);
  });

  it("is unknown again when nothing was heard for its time", async () => {
    const { rig, fake, read } = await prepared();
    fake.tellHealth([{ ...HEALTH, health: "Healthy", timeoutMs: 5_000 }]);
    await rig.host.clock.advance(5 * SECOND);
    expect(read()).toMatchObject([{ health: "Healthy" }]);
    await rig.host.clock.advance(1);
    expect(read()).toMatchObject([{ health: "Unknown" }]);
  });

  it("is unknown while the driver is away, and asked for again", async () => {
    const { rig, fake, read } = await prepared();
    fake.tellHealth([{ ...HEALTH, health: "Healthy" }]);
    await rig.host.clock.settle();
    fake.stop();
    await rig.host.clock.settle();
    expect(read()).toMatchObject([{ health: "Unknown" }]);
    expect(rig.changed).toContain("uid-1");
    fake.start();
    await rig.host.clock.advance(10 * SECOND);
    expect(read()).toMatchObject([{ health: "Healthy" }]);
  });

  it("is not asked for again of a driver that watches none", async () => {
    const rig = await startRig();
    await rig.register({ watchesHealth: false });
    await rig.host.clock.settle();
    const before = rig.host.clock.pendingTimers;
    await rig.host.clock.advance(60 * SECOND);
    expect(rig.host.clock.pendingTimers).toBe(before);
  });
});
