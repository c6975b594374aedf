import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secret } from "../cluster/api-objects.ts";
import { settlesOn } from "../cluster/settles.ts";
import { PROGRAM } from "../node-under-test.ts";
import { isRunning } from "../pods.ts";
import { ofClaim, removeClaimed } from "./claims.ts";
import { registeredDrivers, stagingPath, startDriver, type TestDriver } from "./csi-world.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

const SOLID = "solid.e2e.example.com";
const FRAIL = "frail.e2e.example.com";
const LIMITED = "limited.e2e.example.com";
const PASSWORD = "open-sesame-4711";
/** The built program, whose calls of a driver may take seconds instead of minutes. */
const IMPATIENT_KUBELET = [new URL("impatient-kubelet.mjs", import.meta.url).pathname, dirname(PROGRAM)];
/** Those seconds, what the pod waits between two attempts, and a machine that is busy. */
const DEADLINE_EVENT_MS = 90_000;

describe("CSI drivers that fail", () => {
  let world: VolumeNode;
  let solid: TestDriver;
  let frail: TestDriver;
  let limited: TestDriver;
  beforeAll(async () => {
    world = await createVolumeNode();
    solid = await startDriver(world, SOLID);
    frail = await startDriver(world, FRAIL);
    limited = await startDriver(world, LIMITED, { control: { maxVolumes: 1 } });
    await settlesOn(3, async () => (await registeredDrivers(world)).length);
  });
  afterAll(async () => {
    for (const driver of [solid, frail, limited]) await driver?.stop({ cleanUp: true });
    await world?.destroy();
  });

  const failures = async (pod: string) => {
    const events = (await world.events(pod)).filter(({ type }) => type === "Warning");
    return events.map(({ message = "" }) => message);
  };
  const untilFailure = async (pod: string, words: RegExp, timeoutMs = 20_000) => {
    const isTold = async () => (await failures(pod)).some((message) => words.test(message));
    await expect.poll(isTold, { timeout: timeoutMs, interval: 50 }).toBe(true);
  };
  const expectUndone = async (driver: TestDriver, name: string, volume: string) => {
    expect(await world.end(name)).toEqual([]);
    await settlesOn("NodeUnstageVolume", async () => (await driver.callsFor(volume)).at(-1));
    const staging = stagingPath(world, driver.name, volume);
    expect((await world.mounts()).filter(({ path }) => path.startsWith(staging))).toEqual([]);
    await removeClaimed(world, volume);
  };

  it("keep a pod waiting with the driver's words, and let it start when they recover", async () => {
    await solid.claimed("refused");
    const fault = { action: "fail", code: "internal", detail: "the disk is on fire" } as const;
    solid.control({ faults: { NodePublishVolume: fault } });
    await world.create(mountingPod("refused", { volumes: { v: ofClaim("refused") } }));
    const { message } = await world.event("refused", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(
      /^MountVolume\.SetUp failed for volume "refused" : .*rpc error: code = Internal desc = the disk is on fire$/,
    );
    solid.control({ faults: {} });
    await world.pod("refused", isRunning, 30_000);
    await expectUndone(solid, "refused", "refused");
  });

  it("get the secrets that the volume names, and repeat them to nobody", async () => {
    await world.cluster.apply(secret("key", { password: PASSWORD }));
    const reference = { name: "key", namespace: "default" };
    await solid.claimed("secretive", { csi: { nodeStageSecretRef: reference, nodePublishSecretRef: reference } });
    const fault = { action: "fail", code: "internal", detail: `cannot open with ${PASSWORD}` } as const;
    solid.control({ faults: { NodePublishVolume: fault } });
    await world.create(mountingPod("secretive", { volumes: { v: ofClaim("secretive") } }));
    await untilFailure("secretive", /rpc error: code = Internal desc = cannot open with /);
    const told = [JSON.stringify(await world.events("secretive")), JSON.stringify(await world.node.report())];
    for (const text of [...told, world.node.log()]) expect(text).not.toContain(PASSWORD);
    solid.control({ faults: {} });
    await world.pod("secretive", isRunning, 30_000);
    for (const rpc of ["NodeStageVolume", "NodePublishVolume"]) {
      const { request } = await solid.untilCalled(rpc, { where: (call) => call.request["volumeId"] === "secretive" });
      expect(request["secretNames"]).toEqual(["password"]);
    }
    await expectUndone(solid, "secretive", "secretive");
  });

  it("that are killed leave running pods alone, keep new ones waiting, and serve them when they are back", async () => {
    await frail.claimed("before");
    await frail.claimed("during");
    await world.run(mountingPod("before", { volumes: { v: ofClaim("before") } }));
    await frail.kill();
    await world.create(mountingPod("during", { volumes: { v: ofClaim("during") } }));
    await untilFailure("during", /MountVolume\.(MountDevice|SetUp) failed for volume "during" : /);
    await world.shell("before", "echo x > /v/x; cat /v/x");
    await frail.restart();
    await world.pod("during", isRunning, 60_000);
    await expectUndone(frail, "during", "during");
    await expectUndone(frail, "before", "before");
  });

  it("and a node agent that is killed between stage and publish: finished, or undone when the pod is gone", async () => {
    for (const isDeleted of [false, true]) {
      const name = isDeleted ? "cut-deleted" : "cut-kept";
      await solid.claimed(name);
      solid.control({ faults: { NodePublishVolume: { action: "hang", volumeId: name } } });
      const { metadata } = await world.create(mountingPod(name, { volumes: { v: ofClaim(name) } }));
      await solid.untilCalled("NodeStageVolume", { where: ({ request }) => request["volumeId"] === name });
      const publishes = async () => (await solid.callsFor(name)).includes("NodePublishVolume unanswered");
      await settlesOn(true, publishes);
      await world.node.kill();
      solid.control({ faults: {} });
      if (isDeleted) await world.remove(name, 0);
      await world.node.start(world.flags);
      if (isDeleted) {
        await settlesOn([], async () => await world.leftovers(metadata?.uid ?? ""));
        await settlesOn("NodeUnstageVolume", async () => (await solid.callsFor(name)).at(-1));
        await removeClaimed(world, name);
      } else {
        await world.pod(name, isRunning, 60_000);
        await expectUndone(solid, name, name);
      }
    }
    const staging = ["cut-kept", "cut-deleted"].map((name) => stagingPath(world, SOLID, name));
    expect((await world.mounts()).filter(({ path }) => staging.includes(path))).toEqual([]);
  });

  it("stay registered over a restart of the node agent, with their staged volumes", async () => {
    await solid.claimed("kept");
    await world.run(mountingPod("kept", { volumes: { v: ofClaim("kept") } }));
    await world.node.kill();
    await world.node.start(world.flags);
    await settlesOn(3, async () => (await registeredDrivers(world)).length);
    expect(await world.shell("kept", "echo x > /v/x; cat /v/x")).toBe("x\n");
    await expectUndone(solid, "kept", "kept");
  });

  it("that do not answer stall their pod alone, which says so and starts when they do", async () => {
    await world.node.stop();
    await world.node.start(world.flags, IMPATIENT_KUBELET);
    await settlesOn(3, async () => (await registeredDrivers(world)).length);
    for (const name of ["hung", "other"]) await solid.claimed(name);
    solid.control({ faults: { NodeStageVolume: { action: "hang", volumeId: "hung" } } });
    await world.create(mountingPod("hung", { volumes: { v: ofClaim("hung") } }));
    await settlesOn(true, async () => (await solid.callsFor("hung")).length > 0);
    await world.create(mountingPod("other", { volumes: { v: ofClaim("other") } }));
    await world.create(mountingPod("none", { volumes: { v: { emptyDir: {} } } }));
    for (const name of ["other", "none"]) await world.pod(name, isRunning, 10_000);
    await untilFailure("hung", /rpc error: code = DeadlineExceeded /, DEADLINE_EVENT_MS);
    solid.control({ faults: {} });
    await world.pod("hung", isRunning, 60_000);
    expect(await world.end("none")).toEqual([]);
    for (const name of ["hung", "other"]) await expectUndone(solid, name, name);
    await world.node.stop();
    await world.node.start(world.flags);
  });

  it("that take one volume get no second one", async () => {
    for (const name of ["limit-a", "limit-b"]) await limited.claimed(name);
    await world.run(mountingPod("limit-a", { volumes: { v: ofClaim("limit-a") } }));
    await world.create(mountingPod("limit-b", { volumes: { v: ofClaim("limit-b") } }));
    const told = async () => {
      const { status } = (await world.read("limit-b")) ?? {};
      return `${status?.reason ?? ""} ${status?.message ?? ""} ${(await failures("limit-b")).join(" ")}`;
    };
    await expect.poll(told, { timeout: 20_000 }).toMatch(/exceed max volume count/);
    expect(await limited.callsFor("limit-b")).toEqual([]);
    const reason = "VolumeAttachmentLimitExceeded";
    const message = `node(s) exceed max volume count: CSI driver ${LIMITED} serves 1 volumes here`;
    const { status } = await world.pod("limit-b", (pod) => pod.status?.phase === "Failed");
    expect(status).toMatchObject({ reason, message: `Pod was rejected: ${message}` });
    await world.event("limit-b", { type: "Warning", reason, message });
    for (const name of ["limit-a", "limit-b"]) {
      const uid = (await world.read(name))?.metadata?.uid ?? "";
      await world.remove(name);
      await world.gone(name);
      await settlesOn([], async () => await world.leftovers(uid));
      await removeClaimed(world, name);
    }
  });

  it("that take one volume get none of a pod that wants two", async () => {
    for (const name of ["pair-a", "pair-b"]) await limited.claimed(name);
    await world.create(mountingPod("pair", { volumes: { a: ofClaim("pair-a"), b: ofClaim("pair-b") } }));
    const { metadata, status } = await world.pod("pair", (pod) => pod.status?.phase === "Failed", 20_000);
    expect(status?.reason).toBe("VolumeAttachmentLimitExceeded");
    for (const name of ["pair-a", "pair-b"]) expect(await limited.callsFor(name)).toEqual([]);
    await world.remove("pair");
    await settlesOn([], async () => await world.leftovers(metadata?.uid ?? ""));
    for (const name of ["pair-a", "pair-b"]) await removeClaimed(world, name);
  });

  it("that are removed leave the node's CSINode, and pods that need them say what is missing", async () => {
    await frail.stop();
    const names = async () => (await registeredDrivers(world)).map(({ name }) => name).sort();
    await settlesOn([LIMITED, SOLID], names);
    // The node's object is written after the CSINode.
    const isAnnotated = async () => {
      const { metadata } = await world.nodeObject();
      return metadata?.annotations?.["csi.volume.kubernetes.io/nodeid"]?.includes(FRAIL) ?? false;
    };
    await settlesOn(false, isAnnotated);
    await frail.claimed("removed");
    await world.create(mountingPod("removed", { volumes: { v: ofClaim("removed") } }));
    await untilFailure("removed", new RegExp(`driver name ${FRAIL} not found in the list of registered CSI drivers`));
    await frail.restart();
    await world.pod("removed", isRunning, 60_000);
    await expectUndone(frail, "removed", "removed");
  });
});
