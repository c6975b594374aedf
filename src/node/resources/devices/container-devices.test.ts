import { afterEach, describe, expect, it } from "vitest";
import { containerWith, createDeviceRig, healthyDevices, RESOURCE } from "./__fixtures__/device-rig.ts";
import type { DeviceSources } from "./container-devices.ts";
import { computeDeviceHealth } from "./device-health.ts";
import { withAssignedDevices, withDeviceCapacity } from "./devices-of-node.ts";

type Rig = ReturnType<typeof createDeviceRig>;
const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop();
});

async function startRig(options: Parameters<Rig["createPlugin"]>[0] = {}) {
  const rig = createDeviceRig();
  rigs.push(rig);
  rig.start();
  const plugin = rig.createPlugin(options);
  await rig.register(plugin);
  return { rig, plugin };
}

const ANYWHERE: DeviceSources = { predecessors: [], numaNodes: undefined };
const allocate = async ({ devices, signal }: Rig, podUid: string, amount: number, place = ANYWHERE) =>
  await devices.allocate({ podUid, container: containerWith(amount) }, place, signal);

describe("a container", () => {
  it("concerns devices where it asks for a resource of a plugin", async () => {
    const { rig } = await startRig();
    expect(rig.devices.concerns(containerWith(1))).toBe(true);
    expect(rig.devices.concerns(containerWith(0))).toBe(false);
    expect(rig.devices.concerns({ name: "plain", resources: { limits: { cpu: "1" } } })).toBe(false);
  });

  it("gets devices of its own, and all that the plugin adds to it", async () => {
    const { rig, plugin } = await startRig({ preStartRequired: true });
    expect(await allocate(rig, "uid-1", 2)).toBeUndefined();
    expect(await allocate(rig, "uid-2", 1)).toBeUndefined();
    const prepared = await rig.devices.prepare({ podUid: "uid-1", container: containerWith(2) }, rig.signal);
    expect(prepared).toEqual({
      ok: true,
      options: {
        envs: [{ name: "DEVICES", value: "a,b" }],
        mounts: [{ containerPath: "/opt/driver", hostPath: "/usr/lib/driver", readOnly: true }],
        devices: ["a", "b"].map((id) => ({
          containerPath: `/dev/${id}`,
          hostPath: `/dev/host-${id}`,
          permissions: "rw",
        })),
        annotations: { "example.com/devices": "a,b" },
        cdiDevices: ["example.com/device=a"],
      },
    });
    const asked = plugin.calls.filter(([call]) => call !== "GetDevicePluginOptions");
    expect(asked).toEqual([
      ["Allocate", "a", "b"],
      ["Allocate", "c"],
      ["PreStartContainer", "a", "b"],
    ]);
    expect(await allocate(rig, "uid-3", 1)).toBe(
      `requested number of devices unavailable for ${RESOURCE}. Requested: 1, Available: 0`,
    );
    rig.assignments.releaseOthers(new Set(["uid-1"]));
    expect(await allocate(rig, "uid-3", 1)).toBeUndefined();
  });

  it("gets none from a plugin that answers with more than is kept, alone or with the others", async () => {
    let length = 0;
    const answer = () => ({ envs: { DEVICES: "x".repeat(length) } });
    const ids = Array.from({ length: 100 }, (_, index) => `device-${index}`);
    const { rig } = await startRig({ answer, devices: healthyDevices(...ids) });
    length = 70_000;
    expect(await allocate(rig, "uid-0", 1)).toMatch(
      /^the answer of example.com\/device to Allocate has \d+ bytes, more/,
    );
    expect(rig.assignments.list()).toEqual([]);
    length = 60_000;
    const refusals = [];
    for (let pod = 1; pod <= 40; pod++) refusals.push(await allocate(rig, `uid-${pod}`, 1));
    expect(refusals.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => undefined));
    expect(refusals.at(-1)).toMatch(/^the answers of device plugins to Allocate would have \d+ bytes, more than/);
    rig.assignments.releaseOthers(new Set(["uid-1"]));
    expect(await allocate(rig, "uid-41", 1)).toBeUndefined();
  });

  it("keeps its devices over a restart of the agent and of the plugin", async () => {
    const { rig, plugin } = await startRig();
    await allocate(rig, "uid-1", 2);
    const next = createDeviceRig(rig.host);
    rigs.push(next);
    await next.checkpoint.restore();
    next.start();
    const container = containerWith(2);
    const user = { podUid: "uid-1", container };
    expect(await next.devices.prepare(user, next.signal)).toMatchObject({ ok: true, options: { cdiDevices: [{}] } });
    expect(await allocate(next, "uid-1", 2)).toBe(
      `no healthy devices present; cannot allocate unhealthy devices ${RESOURCE}`,
    );
    await next.register(plugin);
    expect(await allocate(next, "uid-1", 2)).toBeUndefined();
    expect(plugin.calls.filter(([call]) => call === "Allocate")).toHaveLength(1);
    expect(await allocate(next, "uid-2", 2)).toContain("Requested: 2, Available: 1");
  });

  it("gets the devices of the init containers before it", async () => {
    const { rig } = await startRig();
    const init = { podUid: "uid-1", container: containerWith(3, "init") };
    expect(await rig.devices.allocate(init, ANYWHERE, rig.signal)).toBeUndefined();
    expect(await allocate(rig, "uid-1", 2, { ...ANYWHERE, predecessors: ["init"] })).toBeUndefined();
  });

  it("shares devices of init containers with none that runs beside it: a sidecar, or another container", async () => {
    const { rig } = await startRig();
    const give = async (name: string, amount: number, predecessors: readonly string[]) => {
      const user = { podUid: "uid-1", container: containerWith(amount, name) };
      expect(await rig.devices.allocate(user, { ...ANYWHERE, predecessors }, rig.signal), name).toBeUndefined();
      return await rig.devices.prepare(user, rig.signal);
    };
    const having = (value: string) => ({ options: { envs: [{ value }] } });
    expect(await give("init", 1, [])).toMatchObject(having("a"));
    expect(await give("sidecar", 1, ["init"])).toMatchObject(having("a"));
    expect(await give("main", 1, ["init"])).toMatchObject(having("b"));
    expect(await give("other", 1, ["init"])).toMatchObject(having("c"));
    const late = { podUid: "uid-1", container: containerWith(1, "late") };
    expect(await rig.devices.allocate(late, { ...ANYWHERE, predecessors: ["init"] }, rig.signal)).toContain(
      "Requested: 1, Available: 0",
    );
  });

  it("gets devices at its start where their plugin came after the pod", async () => {
    const { rig } = await startRig();
    const user = { podUid: "uid-1", container: containerWith(1) };
    expect(await rig.devices.prepare(user, rig.signal)).toMatchObject({ options: { envs: [{ value: "a" }] } });
  });

  it("is refused where the plugin fails, and leaves the devices to others", async () => {
    const { rig, plugin } = await startRig();
    plugin.faults.before = (call) => {
      if (call === "Allocate") throw new Error("the device is on fire");
    };
    expect(await allocate(rig, "uid-1", 3)).toContain("the device is on fire");
    delete plugin.faults.before;
    expect(await allocate(rig, "uid-2", 3)).toBeUndefined();
  });

  it("is refused where the plugin does not answer", async () => {
    const { rig, plugin } = await startRig();
    plugin.faults.before = async () => await new Promise<void>(() => undefined);
    const refused = allocate(rig, "uid-1", 1);
    await rig.host.clock.advance(10_000);
    expect(await refused).toContain("deadline-exceeded");
  });

  it("does not start where PreStartContainer fails", async () => {
    const { rig, plugin } = await startRig({ preStartRequired: true });
    const user = { podUid: "uid-1", container: containerWith(1) };
    expect(await rig.devices.prepare(user, rig.signal)).toEqual({
      ok: false,
      error: `no devices found allocated in local cache for pod uid-1, container main, resource ${RESOURCE}`,
    });
    await allocate(rig, "uid-1", 1);
    plugin.faults.before = () => {
      throw new Error("cannot reset");
    };
    const failed = await rig.devices.prepare(user, rig.signal);
    expect(failed).toMatchObject({ ok: false, error: expect.stringContaining("cannot reset") });
    expect(failed).toMatchObject({ error: expect.stringMatching(/^device plugin PreStartContainer rpc failed/) });
  });

  it("is refused where the account cannot be written", async () => {
    const { rig } = await startRig();
    rig.host.files.intercept(({ operation }) => {
      if (operation === "writeAtomically") throw new Error("no space left on device");
    });
    expect(await allocate(rig, "uid-1", 1)).toBe(
      'failed to write checkpoint file "kubelet_internal_checkpoint": no space left on device',
    );
  });

  it("has the health of its devices in its status", async () => {
    const { rig, plugin } = await startRig();
    await allocate(rig, "uid-1", 2);
    expect(rig.assignments.podsWith(RESOURCE, new Set(["b"]))).toEqual(["uid-1"]);
    plugin.list([...healthyDevices("a"), { id: "b", isHealthy: false, numaNodes: [] }]);
    await rig.host.clock.settle();
    const resources = [
      { resourceID: "a", health: "Healthy" },
      { resourceID: "b", health: "Unhealthy" },
    ];
    expect(computeDeviceHealth(rig, "uid-1", "main")).toEqual([{ name: RESOURCE, resources }]);
    expect(computeDeviceHealth(rig, "uid-1", "other")).toEqual([]);
  });
});

describe("the node", () => {
  it("tells of its devices, and counts those that containers have", async () => {
    const { rig, plugin } = await startRig();
    await allocate(rig, "uid-1", 2);
    const told = withDeviceCapacity({ status: { capacity: { cpu: "2" } } }, rig.inventory.capacity());
    expect(told.status).toEqual({ capacity: { cpu: "2", [RESOURCE]: "3" }, allocatable: { [RESOURCE]: "3" } });
    plugin.stop();
    await rig.host.clock.settle();
    const after = withDeviceCapacity(told, rig.inventory.capacity());
    expect(after.status?.allocatable).toEqual({ [RESOURCE]: "0" });
    expect(withAssignedDevices(after, rig.assignments).status?.allocatable).toEqual({ [RESOURCE]: "2" });
  });
});
