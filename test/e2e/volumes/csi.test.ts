import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secret } from "../cluster/api-objects.ts";
import { settlesOn } from "../cluster/settles.ts";
import { isRunning } from "../pods.ts";
import { ofClaim, removeClaimed } from "./claims.ts";
import { registeredDrivers, stagingPath, startDriver, type TestDriver, targetPath } from "./csi-world.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

const FILES = "files.e2e.example.com";
const INLINE = "inline.e2e.example.com";
const ATTACHED = "attached.e2e.example.com";
const GROUP = "group.e2e.example.com";
/** What a claim leads to is read again after a minute, at the next look at the pod. */
const GROWTH_MS = 150_000;
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";

describe("volumes of CSI drivers", () => {
  let world: VolumeNode;
  let files: TestDriver;
  let inline: TestDriver;
  let attached: TestDriver;
  let group: TestDriver;
  beforeAll(async () => {
    world = await createVolumeNode({ configuration: { syncFrequency: "10s" } });
    const image = { kind: "image", sizeBytes: 32 * 1024 * 1024 } as const;
    const topology = { "topology.e2e.example.com/zone": "z1" };
    files = await startDriver(world, FILES, {
      control: { topology, nodeId: "n-1", volumes: { block: image } },
    });
    const tokenRequests = [{ audience: "vault" }];
    inline = await startDriver(world, INLINE, {
      control: { capabilities: [] },
      spec: { volumeLifecycleModes: ["Ephemeral", "Persistent"], podInfoOnMount: true, tokenRequests },
    });
    attached = await startDriver(world, ATTACHED, { spec: { attachRequired: true } });
    group = await startDriver(world, GROUP, {
      control: { capabilities: ["STAGE_UNSTAGE_VOLUME", "VOLUME_MOUNT_GROUP"] },
    });
    await settlesOn(4, async () => (await registeredDrivers(world)).length);
  });
  afterAll(async () => {
    for (const driver of [files, inline, attached, group]) await driver?.stop({ cleanUp: true });
    await world?.destroy();
  });

  it.concurrent("are known by the node's CSINode, its annotation and its labels", async () => {
    const driver = (await registeredDrivers(world)).find(({ name }) => name === FILES);
    expect(driver).toMatchObject({ name: FILES, nodeID: "n-1", topologyKeys: ["topology.e2e.example.com/zone"] });
    const { metadata } = await world.nodeObject();
    expect(metadata?.labels).toMatchObject({ "topology.e2e.example.com/zone": "z1" });
    const ids: unknown = JSON.parse(metadata?.annotations?.["csi.volume.kubernetes.io/nodeid"] ?? "{}");
    expect(ids).toMatchObject({ [FILES]: "n-1", [INLINE]: "test-node" });
  });

  it.concurrent("are staged once and published to each pod, and undone in the other order", async () => {
    await files.claimed("shared", { accessMode: "ReadWriteMany", csi: { volumeAttributes: { colour: "red" } } });
    const one = await world.run(mountingPod("share-one", { volumes: { v: ofClaim("shared") } }));
    const two = await world.run(mountingPod("share-two", { volumes: { v: ofClaim("shared", true) } }));
    await world.shell("share-one", "echo data > /v/data");
    expect(await world.shell("share-two", "cat /v/data")).toBe("data\n");
    await expect(world.shell("share-two", "echo x > /v/data")).rejects.toThrow("Read-only file system");
    const [uid = "", other = ""] = [one.metadata?.uid, two.metadata?.uid];
    const calls = await files.calls();
    const find = (rpc: string, path: string) => {
      return calls.find(({ rpc: called, request }) => called === rpc && Object.values(request).includes(path));
    };
    const staging = stagingPath(world, FILES, "shared");
    const staged = find("NodeStageVolume", staging)?.request;
    expect(staged).toMatchObject({ volumeId: "shared", volumeContext: { colour: "red" } });
    expect(find("NodePublishVolume", targetPath(world, uid, "shared"))?.request).toMatchObject({ readOnly: false });
    expect(find("NodePublishVolume", targetPath(world, other, "shared"))?.request).toMatchObject({ readOnly: true });
    expect(
      JSON.parse(await readFile(join(targetPath(world, uid, "shared"), "../vol_data.json"), "utf8")),
    ).toMatchObject({
      driverName: FILES,
      volumeHandle: "shared",
      specVolID: "shared",
      volumeLifecycleMode: "Persistent",
    });
    for (const name of ["share-one", "share-two"]) expect(await world.end(name)).toEqual([]);
    await settlesOn(
      [
        "NodeStageVolume",
        "NodePublishVolume",
        "NodePublishVolume",
        "NodeUnpublishVolume",
        "NodeUnpublishVolume",
        "NodeUnstageVolume",
      ],
      async () => await files.callsFor("shared"),
      10_000,
    );
    expect((await world.mounts()).filter(({ path }) => path.startsWith(staging))).toEqual([]);
    expect(await readFile(join(files.volumesDirectory, "shared/data"), "utf8")).toBe("data\n");
    await removeClaimed(world, "shared");
  });

  it.concurrent("are a pod's own where they are inline, with what the driver asks to know of it", async () => {
    await world.cluster.apply(secret("key", { password: "sesame-open" }));
    const csi = {
      driver: INLINE,
      volumeAttributes: { size: "small" },
      nodePublishSecretRef: { name: "key" },
    };
    const { metadata } = await world.run(mountingPod("inline", { volumes: { v: { csi } } }));
    const uid = metadata?.uid ?? "";
    const digest = createHash("sha256").update(`${uid}v`).digest("hex");
    const calls = (await inline.calls()).filter(({ rpc }) => rpc === "NodePublishVolume");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.request).toMatchObject({
      volumeContext: {
        size: "small",
        "csi.storage.k8s.io/ephemeral": "true",
        "csi.storage.k8s.io/pod.name": "inline",
        "csi.storage.k8s.io/pod.namespace": "default",
        "csi.storage.k8s.io/pod.uid": uid,
        "csi.storage.k8s.io/serviceAccount.name": "default",
      },
      tokens: { vault: { digest: expect.any(String) } },
      secretNames: ["password"],
    });
    expect(calls[0]?.request["volumeId"]).toBe(`csi-${digest}`);
    await world.shell("inline", "echo x > /v/x");
    expect(await world.end("inline")).toEqual([]);
    for (const text of [world.node.log(), JSON.stringify(await world.node.report())]) {
      expect(text).not.toContain("sesame-open");
    }
  });

  it.concurrent("are block devices where the claim says so", async () => {
    await files.claimed("block", { volumeMode: "Block" });
    const container = { volumeMounts: [], volumeDevices: [{ name: "v", devicePath: "/dev/data" }] };
    await world.run(mountingPod("block", { volumes: { v: ofClaim("block") }, container }));
    const script = "stat -c %F /dev/data; printf hello | dd of=/dev/data conv=notrunc,fsync 2> /dev/null";
    expect(await world.shell("block", script)).toBe("block special file\n");
    expect(await world.end("block")).toEqual([]);
    const calls = async () => (await files.callsFor("block")).slice(-2);
    await settlesOn(["NodeUnpublishVolume", "NodeUnstageVolume"], calls);
    expect((await readFile(join(files.volumesDirectory, "block.img"))).subarray(0, 5).toString("utf8")).toBe("hello");
    await removeClaimed(world, "block");
  });

  it.concurrent("grow while they are mounted, and say so, also when the driver fails", {
    timeout: 240_000,
  }, async () => {
    await files.claimed("growing");
    await world.run(mountingPod("growing", { volumes: { v: ofClaim("growing") } }));
    const fault = { action: "fail", code: "internal", detail: "no room", volumeId: "growing", times: 1 } as const;
    files.control({ faults: { NodeExpandVolume: fault } });
    // As an external resizer does after the driver's controller.
    const capacity = { storage: "64Mi" };
    await world.api.patch("merge", "/api/v1/persistentvolumes/growing", { spec: { capacity } });
    const condition = { type: "FileSystemResizePending", status: "True", lastTransitionTime: new Date().toISOString() };
    await world.api.patch("merge", `${CLAIMS}/growing/status`, { status: { conditions: [condition] } });
    const told = async () => {
      const { body } = await world.api.json("GET", `${CLAIMS}/growing`);
      const { status }: { status?: { capacity?: { storage?: string }; conditions?: object[] } } = Object(body);
      return [status?.capacity?.storage, status?.conditions?.length ?? 0];
    };
    await settlesOn(["64Mi", 0], told, GROWTH_MS);
    const { request } = await files.untilCalled("NodeExpandVolume");
    expect(request).toMatchObject({ volumeId: "growing", requiredBytes: 64 * 1024 * 1024 });
    await world.event("growing", { type: "Normal", reason: "FileSystemResizeSuccessful" });
    const { message } = await world.event("growing", { type: "Warning", reason: "VolumeResizeFailed" });
    expect(message).toMatch(/no room/);
    expect(await world.end("growing")).toEqual([]);
    await removeClaimed(world, "growing");
  });

  it.concurrent("belong to the pod's group: changed by the node agent, or mounted so by the driver that can", async () => {
    const spec = { securityContext: { fsGroup: 4321 } };
    await files.claimed("grouped", { csi: { fsType: "ext4" } });
    await world.run(mountingPod("grouped", { volumes: { v: ofClaim("grouped") }, spec }));
    expect(await world.shell("grouped", "stat -c '%A %g' /v")).toBe("drwxrwsr-x 4321\n");
    await group.claimed("delegated");
    await world.run(mountingPod("delegated", { volumes: { v: ofClaim("delegated") }, spec }));
    const { request } = await group.untilCalled("NodeStageVolume");
    expect(request["use"]).toMatchObject({ access: { kind: "mount", mountGroup: "4321" } });
    for (const name of ["grouped", "delegated"]) {
      expect(await world.end(name)).toEqual([]);
      await removeClaimed(world, name);
    }
    expect((await stat(join(files.volumesDirectory, "grouped"))).gid).toBe(4321);
  });

  it.concurrent("wait for their attachment, say so, and tell the driver what the attacher said", async () => {
    await attached.claimed("attached");
    await world.create(mountingPod("attached", { volumes: { v: ofClaim("attached") } }));
    const name = `csi-${createHash("sha256").update(`attached${ATTACHED}e2e`).digest("hex")}`;
    const why = `MountVolume.WaitForAttach failed for volume "attached" : volume attached is not attached for volume attachment ${name}`;
    const told = async () => (await world.events("attached")).some(({ message }) => message === why);
    await settlesOn(true, told);
    expect((await world.nodeObject()).status?.volumesInUse).toContain(`kubernetes.io/csi/${ATTACHED}^attached`);
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${name}`;
    expect(await world.api.object("GET", path)).toMatchObject({
      spec: { attacher: ATTACHED, nodeName: "e2e", source: { persistentVolumeName: "attached" } },
    });
    // As the driver's attacher does, which runs elsewhere.
    const status = { attached: true, attachmentMetadata: { device: "sdz" } };
    expect((await world.api.patch("merge", `${path}/status`, { status })).status).toBe(200);
    await world.pod("attached", isRunning, 20_000);
    const { request } = await attached.untilCalled("NodeStageVolume");
    expect(request["publishContext"]).toEqual({ device: "sdz" });
    expect(await world.end("attached")).toEqual([]);
    // Only then may the controller detach it.
    await settlesOn([], async () => (await world.nodeObject()).status?.volumesInUse ?? []);
    await settlesOn(404, async () => (await world.api.json("GET", path)).status);
    expect(await attached.callsFor("attached")).toEqual([
      "NodeStageVolume",
      "NodePublishVolume",
      "NodeUnpublishVolume",
      "NodeUnstageVolume",
    ]);
    await removeClaimed(world, "attached");
  });
});
