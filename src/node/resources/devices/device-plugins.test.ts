import { afterEach, describe, expect, it } from "vitest";
import { aborted } from "../../../base/abort.ts";
import { MINUTE } from "../../../base/clock.ts";
import { createDeviceRig, healthyDevices, RESOURCE } from "./__fixtures__/device-rig.ts";

type Rig = ReturnType<typeof createDeviceRig>;
const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});

function startRig(host?: Rig["host"]): Rig {
  const rig = createDeviceRig(host);
  rigs.push(rig);
  rig.start();
  return rig;
}

const amounts = ({ inventory }: Rig) => {
  const { capacity, allocatable } = inventory.capacity();
  return [capacity[RESOURCE], allocatable[RESOURCE]];
};

describe("a device plugin", () => {
  it("that registers has its devices counted", async () => {
    const rig = startRig();
    await rig.register(rig.createPlugin());
    expect(amounts(rig)).toEqual(["3", "3"]);
    expect(rig.told).toEqual([`registered ${RESOURCE}`, `listed ${RESOURCE}: a,b,c`]);
  });

  it("that says nothing keeps others waiting, and not without a bound", async () => {
    const rig = startRig();
    const plugin = rig.createPlugin();
    plugin.faults.before = async (_call, signal) => await aborted(signal);
    const silent = Array.from({ length: 101 }, async (_, index) => await rig.register(plugin, `example.com/d${index}`));
    const outcomes = Promise.allSettled(silent);
    await expect(silent[100]).rejects.toThrow("100 device plugins are registering, no more are taken");
    await rig.host.clock.advance(10_000);
    expect((await outcomes).filter(({ status }) => status === "rejected")).toHaveLength(101);
    plugin.faults.before = () => undefined;
    await rig.register(plugin);
    expect(amounts(rig)).toEqual(["3", "3"]);
  });

  it("that lists all the time is listened to less often, and heard in the end", async () => {
    const rig = startRig();
    const plugin = rig.createPlugin();
    await rig.register(plugin);
    const ids = Array.from({ length: 1_000 }, (_, index) => `d${index}`);
    let listed = 0;
    for (let second = 0; second < 10; second++) {
      for (let times = 0; times < 200; times++) {
        plugin.list(healthyDevices(...ids, `turn${listed++}`));
        await rig.host.clock.settle();
      }
      await rig.host.clock.advance(1_000);
    }
    const heard = rig.told.filter((what) => what.startsWith("listed")).length;
    expect(heard).toBeGreaterThan(200);
    expect(heard).toBeLessThan(450);
    await rig.host.clock.advance(10_000);
    expect(rig.inventory.get(RESOURCE)?.devices.has(`turn${listed - 1}`)).toBe(true);
  });

  it("that registers all the time waits, and others with it, but not without a bound", async () => {
    const rig = startRig();
    const plugin = rig.createPlugin();
    let taken = 0;
    let refused = 0;
    const count = (registering: Promise<void>) =>
      registering.then(
        () => taken++,
        () => refused++,
      );
    for (let second = 0; second < 5; second++) {
      for (let times = 0; times < 200; times++) void count(rig.register(plugin));
      await rig.host.clock.advance(1_000);
    }
    expect(taken).toBeLessThanOrEqual(200 + 5 * 20);
    expect(refused).toBeGreaterThan(500);
    for (let second = 0; second < 20; second++) await rig.host.clock.advance(1_000);
    expect(taken + refused).toBe(1_000);
    expect(amounts(rig)).toEqual(["3", "3"]);
  });

  it.each(["../other.sock", "/run/other.sock", "a/../../other.sock", "", ".", "a\0b", "x".repeat(300)])(
    "that names the socket %j is refused",
    async (endpoint) => {
      const rig = startRig();
      const registration = { version: "v1beta1", endpoint, resourceName: RESOURCE };
      await expect(rig.plugins.register(registration, rig.signal)).rejects.toThrow("is invalid");
    },
  );

  it("tells of a device that is not healthy any more", async () => {
    const rig = startRig();
    const plugin = rig.createPlugin();
    await rig.register(plugin);
    plugin.list([...healthyDevices("a", "b"), { id: "c", isHealthy: false, numaNodes: [] }]);
    await rig.host.clock.settle();
    expect(amounts(rig)).toEqual(["3", "2"]);
    expect(rig.told.at(-1)).toBe(`listed ${RESOURCE}: c`);
  });

  it("that goes has no healthy device, and no device at all after five minutes", async () => {
    const rig = startRig();
    const plugin = rig.createPlugin();
    await rig.register(plugin);
    plugin.stop();
    await rig.host.clock.settle();
    expect(amounts(rig)).toEqual(["3", "0"]);
    await rig.host.clock.advance(5 * MINUTE - 1);
    expect(amounts(rig)).toEqual(["3", "0"]);
    await rig.host.clock.advance(1);
    expect(amounts(rig)).toEqual(["0", "0"]);
    expect(rig.inventory.get(RESOURCE)).toBeUndefined();
    expect(rig.told.filter((what) => what === "gone")).toHaveLength(2);
  });

  it("that comes back in time keeps its resource", async () => {
    const rig = startRig();
    const plugin = rig.createPlugin();
    await rig.register(plugin);
    plugin.stop();
    await rig.host.clock.advance(4 * MINUTE);
    plugin.start();
    await rig.register(plugin);
    await rig.host.clock.advance(5 * MINUTE);
    expect(amounts(rig)).toEqual(["3", "3"]);
  });

  it("that registers again takes the place of its older self", async () => {
    const rig = startRig();
    const older = rig.createPlugin();
    await rig.register(older);
    await rig.register(rig.createPlugin({ devices: healthyDevices("x") }));
    older.stop();
    await rig.host.clock.advance(6 * MINUTE);
    expect(amounts(rig)).toEqual(["1", "1"]);
  });

  it("of an agent before this one is waited for", async () => {
    const first = startRig();
    await first.register(first.createPlugin());
    await first.checkpoint.save();
    const next = createDeviceRig(first.host);
    rigs.push(next);
    expect(await next.checkpoint.restore()).toBe(true);
    next.start();
    expect(amounts(next)).toEqual(["0", "0"]);
    expect(next.inventory.get(RESOURCE)).toBeDefined();
    await first.host.clock.advance(5 * MINUTE);
    expect(next.inventory.get(RESOURCE)).toBeUndefined();
    await next.register(next.createPlugin());
    expect(amounts(next)).toEqual(["3", "3"]);
  });

  it.each([
    [{ version: "v1", resourceName: RESOURCE }, 'requested API version "v1" is not supported by kubelet.'],
    [{ version: "v1beta1", resourceName: "cpu" }, 'the ResourceName "cpu" is invalid'],
    [{ version: "v1beta1", resourceName: "example.com/a b" }, 'the ResourceName "example.com/a b" is invalid'],
    [{ version: "v1beta1", resourceName: RESOURCE }, "nobody listens at /var/lib/kubelet/device-plugins/absent.sock"],
  ])("is refused with %j", async (registration, message) => {
    const rig = startRig();
    const registering = rig.plugins.register({ ...registration, endpoint: "absent.sock" }, rig.signal);
    await expect(registering).rejects.toThrow(message);
    expect(rig.inventory.names()).toEqual([]);
  });
});

describe("a device plugin with a registration socket", () => {
  const plugin = {
    type: "DevicePlugin",
    name: RESOURCE,
    endpoint: "/var/lib/kubelet/device-plugins/device.sock",
    socketPath: "/var/lib/kubelet/plugins_registry/device.sock",
    supportedVersions: ["v1beta1"],
  };

  it("is taken, and is gone with its socket", async () => {
    const rig = startRig();
    await rig.register(rig.createPlugin(), "example.com/same-socket");
    await rig.plugins.handler.register(plugin, rig.signal);
    await rig.host.clock.settle();
    expect(amounts(rig)).toEqual(["3", "3"]);
    rig.plugins.handler.deregister({ ...plugin });
    await rig.host.clock.settle();
    expect(amounts(rig)).toEqual(["3", "3"]);
    rig.plugins.handler.deregister(plugin);
    await rig.host.clock.settle();
    expect(amounts(rig)).toEqual(["3", "0"]);
  });

  it.each([
    [{ supportedVersions: ["v1alpha"] }, "manager version, v1beta1, is not among plugin supported versions [v1alpha]"],
    [{ name: "gpu" }, 'invalid name of device plugin socket: the ResourceName "gpu" is invalid'],
    [{}, undefined],
  ])("is judged by %j", (change, problem) => {
    expect(startRig().plugins.handler.validate({ ...plugin, ...change })).toBe(problem);
  });
});
