import { describe, expect, it } from "vitest";
import type { PersistentVolumeClaimStatus, Pod } from "../../../../api/gen/types.ts";
import { CodedError } from "../../../../base/errors.ts";
import {
  callsOf,
  createCsiRig,
  DRIVER,
  inline,
  listLeft,
  persistent,
  podOf,
  putAttachment,
  ROOT,
  setUp,
  sweep,
  tearDownPod,
} from "./__fixtures__/csi-rig.ts";

const IN_USE = `kubernetes.io/csi/${DRIVER}^vol-1`;
const STAGES = ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"] as const;

describe("attachment", () => {
  const attachable = () => {
    const rig = createCsiRig();
    rig.driverSpec = { attachRequired: true };
    return rig;
  };

  it("is waited for by looking again, ever more seldom, with the volume in use from the first look", async () => {
    const rig = attachable();
    const plugin = rig.plugin();
    const { metadata } = putAttachment(rig, "vol-1", { attached: false });
    for (const retryAfterMs of [500, 1_000, 2_000, 4_000, 7_000, 7_000]) {
      await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toMatchObject({
        message: `MountVolume.WaitForAttach failed for volume "pv-1" : volume vol-1 is not attached for volume attachment ${metadata?.name}`,
        retryAfterMs,
      });
    }
    expect(rig.reports).toContainEqual([IN_USE]);
    expect(callsOf(rig.csi)).toEqual([]);
    putAttachment(rig, "vol-1", { attached: true, attachmentMetadata: { device: "sda" } });
    await setUp(plugin, podOf("a"), persistent(1));
    for (const call of rig.csi.calls) expect(call.request["publishContext"]).toEqual({ device: "sda" });
  });

  it.each([
    [
      { attached: false, attachError: { message: "no such disk" } },
      undefined,
      "FailedAttachVolume",
      'AttachVolume.Attach failed for volume "pv-1" : no such disk',
    ],
    [
      { attached: true },
      ["other"],
      "FailedAttachVolume",
      'Volume not attached according to node status for volume "pv-1"',
    ],
    [
      undefined,
      [IN_USE],
      "FailedMount",
      'MountVolume.WaitForAttach failed for volume "pv-1" : volume vol-1 is not attached',
    ],
  ])("that is not there is told: %j, listed %j", async (status, listed, reason, message) => {
    const rig = attachable();
    putAttachment(rig, "vol-1", status);
    rig.nodeVolumesAttached = listed;
    await expect(setUp(rig.plugin(), podOf("a"), persistent(1))).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(message),
    });
  });

  it("that is about to go is none", async () => {
    const rig = attachable();
    Object.assign(putAttachment(rig, "vol-1", { attached: true }).metadata ?? {}, {
      deletionTimestamp: "2026-01-01T00:00:00Z",
    });
    await expect(setUp(rig.plugin(), podOf("a"), persistent(1))).rejects.toThrow("volume attachment is being deleted");
  });

  it("is not awaited where the node could not say that it uses the volume", async () => {
    const rig = attachable();
    putAttachment(rig, "vol-1", { attached: true });
    const inUse = { report: async () => await Promise.reject(new Error("the API server is away")) };
    await expect(setUp(rig.plugin({}, { inUse }), podOf("a"), persistent(1))).rejects.toThrow("the API server is away");
    expect(callsOf(rig.csi)).toEqual([]);
  });

  it("is asked for as soon as the node says that it uses this volume, whatever others are in use", async () => {
    const rig = attachable();
    const plugin = rig.plugin();
    for (const volume of ["vol-1", "vol-2"]) putAttachment(rig, volume, { attached: true });
    await setUp(plugin, podOf("a"), persistent(1));
    await setUp(plugin, podOf("b"), persistent(2));
    expect(rig.reports).toEqual([[IN_USE], [IN_USE.replace("vol-1", "vol-2")]]);
  });

  it("is told by the controller where one does it", () => {
    const plugin = createCsiRig().plugin();
    expect(plugin.volumesAttached()).toBeUndefined();
  });

  it("is no volume's of a driver that says so, and every volume's of one that says nothing", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    expect([rig.reports, plugin.volumesInUse()]).toEqual([[], []]);
    rig.driverSpec = undefined;
    await expect(setUp(plugin, podOf("a"), persistent(2))).rejects.toThrow("has GET error for volume attachment");
  });

  it("is the node's own affair where no controller does it", async () => {
    const rig = attachable();
    const plugin = rig.plugin({ enableControllerAttachDetach: false });
    await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow("is not attached for volume attachment");
    const [attachment] = rig.attachments.values();
    expect(attachment?.spec).toEqual({
      attacher: DRIVER,
      nodeName: "node-1",
      source: { persistentVolumeName: "pv-1" },
    });
    putAttachment(rig, "vol-1", { attached: true });
    await setUp(plugin, podOf("a"), persistent(1));
    expect(plugin.volumesAttached()).toEqual([{ name: IN_USE, devicePath: "" }]);
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect([rig.attachments.size, plugin.volumesAttached(), await listLeft(rig.host)]).toEqual([0, [], []]);
  });

  it("that never came leaves nothing when the pod goes", async () => {
    const rig = attachable();
    const plugin = rig.plugin();
    let changes = 0;
    plugin.subscribe(() => changes++);
    await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow("GET error");
    expect(plugin.volumesInUse()).toEqual([IN_USE]);
    const before = changes;
    await tearDownPod(plugin, rig.host, "a");
    expect(plugin.volumesInUse()).toEqual([]);
    expect(changes).toBeGreaterThan(before);
  });
});

describe("what a driver is handed", () => {
  it("are the secrets of each use", async () => {
    const rig = createCsiRig();
    const put = (name: string) =>
      rig.secrets.set(`ns/${name}`, { data: { key: Buffer.from(name).toString("base64") } });
    for (const name of ["stage", "publish"]) put(name);
    const refs = {
      nodeStageSecretRef: { namespace: "ns", name: "stage" },
      nodePublishSecretRef: { namespace: "ns", name: "publish" },
    };
    await setUp(rig.plugin(), podOf("a"), persistent(1, { csi: refs }));
    expect(rig.csi.calls.map(({ request }) => request["secrets"])).toEqual([{ key: "stage" }, { key: "publish" }]);
  });

  it("waits for a secret that is not there yet", async () => {
    const rig = createCsiRig();
    rig.driverSpec = { volumeLifecycleModes: ["Ephemeral"] };
    const attempt = setUp(rig.plugin(), podOf("a"), inline({ nodePublishSecretRef: { name: "key" } }));
    await expect(attempt).rejects.toMatchObject({
      message:
        'MountVolume.SetUp failed for volume "data" : fetching NodePublishSecretRef default/key failed: "key" not found',
      retryAfterMs: 500,
    });
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it.each([
    [false, "volumeContext"],
    [true, "secrets"],
  ])("are tokens of the pod's service account; as secrets: %j", async (serviceAccountTokenInSecrets, place) => {
    const rig = createCsiRig();
    rig.driverSpec = {
      attachRequired: false,
      serviceAccountTokenInSecrets,
      tokenRequests: [{ audience: "vault" }, { audience: "", expirationSeconds: 900 }],
    };
    await setUp(rig.plugin(), podOf("a"), persistent(1));
    const request = rig.csi.calls.at(-1)?.request ?? {};
    const expirationTimestamp = "1970-01-01T00:00:00Z";
    expect(request[place]).toEqual({
      "csi.storage.k8s.io/serviceAccount.tokens": JSON.stringify({
        "": { token: "token-of-a-for-", expirationTimestamp },
        vault: { token: "token-of-a-for-vault", expirationTimestamp },
      }),
    });
    expect(request[place === "secrets" ? "volumeContext" : "secrets"]).toEqual({});
  });

  it("are the mount options, the access mode, and that the pod may not write", async () => {
    const rig = createCsiRig({ capabilities: [...STAGES, "SINGLE_NODE_MULTI_WRITER"] });
    const source = persistent(1, { mountOptions: ["noatime"], accessModes: ["ReadWriteOncePod"] }, { readOnly: true });
    await expect(setUp(rig.plugin(), podOf("a"), source)).resolves.toMatchObject({ readOnly: true });
    for (const { request } of rig.csi.calls) {
      expect(request["use"]).toMatchObject({
        accessMode: "SINGLE_NODE_SINGLE_WRITER",
        access: { kind: "mount", fsType: "ext4", mountFlags: ["noatime"] },
      });
    }
    expect(rig.csi.calls.at(-1)?.request["readOnly"]).toBe(true);
  });
});

describe("fsGroup", () => {
  const withGroup = (more: NonNullable<Pod["spec"]>["securityContext"] = {}) =>
    podOf("a", { securityContext: { fsGroup: 1000, ...more } });
  const target = `${ROOT}/pods/a/volumes/kubernetes.io~csi/pv-1/mount`;

  it("is given to the files by us", async () => {
    const rig = createCsiRig();
    await setUp(rig.plugin(), withGroup(), persistent(1));
    expect(await rig.host.files.stat(target)).toMatchObject({ group: 1000 });
  });

  it("is handed to a driver that sees to it", async () => {
    const rig = createCsiRig({ capabilities: [...STAGES, "VOLUME_MOUNT_GROUP"] });
    await setUp(rig.plugin(), withGroup(), persistent(1));
    for (const { request } of rig.csi.calls) expect(request["use"]).toMatchObject({ access: { mountGroup: "1000" } });
    expect(await rig.host.files.stat(target)).toMatchObject({ group: 0 });
  });

  it("that cannot be given leaves the pod waiting, and the volume to be torn down", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    const stop = rig.host.files.intercept(({ operation }) => {
      if (operation === "changeGroup") throw new Error("read-only");
    });
    await expect(setUp(plugin, withGroup(), persistent(1))).rejects.toThrow(
      "applyFSGroup failed for vol vol-1: read-only",
    );
    stop();
    await tearDownPod(plugin, rig.host, "a");
    expect(rig.csi.published.size).toBe(0);
  });
});

describe("a block volume", () => {
  const source = persistent(1, { volumeMode: "Block" });
  const blocks = `${ROOT}/plugins/kubernetes.io/csi/volumeDevices`;

  it("is a link to what the driver publishes, in upstream's places", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    const link = `${ROOT}/pods/a/volumeDevices/kubernetes.io~csi/pv-1`;
    expect(await setUp(plugin, podOf("a"), source)).toEqual({ kind: "device", hostPath: link, readOnly: false });
    expect(await rig.host.files.readLink(link)).toBe(`${blocks}/publish/pv-1/a`);
    expect(rig.csi.calls.map(({ request }) => [request["stagingPath"], request["targetPath"]])).toEqual([
      [`${blocks}/staging/pv-1`, undefined],
      [`${blocks}/staging/pv-1`, `${blocks}/publish/pv-1/a`],
    ]);
    expect(await rig.host.mounts.isMountPoint(`${blocks}/pv-1/dev/a`)).toBe(true);
    expect(JSON.parse(rig.host.files.text(`${blocks}/pv-1/data/vol_data.json`) ?? "")).toMatchObject({
      specVolID: "pv-1",
      volumeHandle: "vol-1",
      driverName: DRIVER,
    });
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it("failing is told as a device that cannot be mapped", async () => {
    const rig = createCsiRig();
    rig.csi.faults.before = ({ rpc }) => {
      if (rpc === "NodePublishVolume") throw new CodedError("internal", "no luck");
    };
    await expect(setUp(rig.plugin(), podOf("a"), source)).rejects.toMatchObject({
      reason: "FailedMapVolume",
      message: expect.stringMatching(/^MapVolume\.MapPodDevice failed for volume "pv-1" : .*desc = no luck/),
    });
  });

  it("that a pod left behind without a trace is taken from it before it is unstaged", async () => {
    const rig = createCsiRig();
    await setUp(rig.plugin(), podOf("a"), source);
    await rig.host.files.remove(`${ROOT}/pods/a`);
    await sweep(rig.plugin(), rig.host);
    expect(callsOf(rig.csi).slice(2)).toEqual(["Unpublish ok", "Unstage ok"]);
    expect(await listLeft(rig.host)).toEqual([]);
  });
});

describe("a driver that asks to be called again", () => {
  it.each([
    { kind: "files", reason: "FailedMount", step: "MountVolume.SetUp failed" },
    { kind: "a device", reason: "FailedMapVolume", step: "MapVolume.MapPodDevice failed" },
  ])("is, at each set-up; a failure leaves the pod what it has: $kind", async ({ kind, reason, step }) => {
    const rig = createCsiRig();
    rig.driverSpec = { attachRequired: false, requiresRepublish: true };
    const plugin = rig.plugin();
    const volume = persistent(1, kind === "files" ? {} : { volumeMode: "Block" });
    const ready = await setUp(plugin, podOf("a"), volume);
    expect(await setUp(plugin, podOf("a"), volume)).toEqual(ready);
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok", "Publish ok"]);
    rig.csi.faults.before = () => {
      throw new CodedError("internal", "no luck");
    };
    const left = await listLeft(rig.host);
    expect(await setUp(plugin, podOf("a"), volume)).toEqual(ready);
    expect(await listLeft(rig.host)).toEqual(left);
    const message = expect.stringMatching(new RegExp(`^${step} for volume "pv-1" : .*desc = no luck`));
    expect(rig.events).toMatchObject([{ type: "Warning", reason, message }]);
  });
});

describe("SELinux", () => {
  const labelled = (uid: string, level: string) => podOf(uid, { securityContext: { seLinuxOptions: { level } } });
  const source = persistent(1, { accessModes: ["ReadWriteMany"] });
  const createRig = () => {
    const rig = createCsiRig();
    rig.driverSpec = { attachRequired: false, seLinuxMount: true };
    return rig;
  };
  const options = { seLinuxEnabled: true, seLinuxMount: true };

  it("labels by a mount option what the driver lets it, and remembers with which", async () => {
    const rig = createRig();
    const plugin = rig.plugin(options);
    const label = "system_u:object_r:container_file_t:s0:c1,c2";
    await expect(setUp(plugin, labelled("a", "s0:c1,c2"), source)).resolves.toMatchObject({ relabel: false });
    for (const { request } of rig.csi.calls) {
      expect(request["use"]).toMatchObject({ access: { mountFlags: [`context="${label}"`] } });
    }
    const data = rig.host.files.text(`${ROOT}/pods/a/volumes/kubernetes.io~csi/pv-1/vol_data.json`) ?? "";
    expect(JSON.parse(data)).toMatchObject({ seLinuxMountContext: label });
    // Another label cannot be had while a pod has this one, also after a restart; then it can.
    for (const later of [plugin, rig.plugin(options)]) {
      await expect(setUp(later, labelled("b", "s0:c3"), source)).rejects.toThrow(
        `conflicting SELinux labels of volume pv-1: "${label}" and "system_u:object_r:container_file_t:s0:c3"`,
      );
    }
    await tearDownPod(plugin, rig.host, "a");
    await setUp(plugin, labelled("b", "s0:c3"), source);
    expect(callsOf(rig.csi).slice(-3)).toEqual(["Unstage ok", "Stage ok", "Publish ok"]);
  });

  it("is nothing where the machine has none", async () => {
    const rig = createRig();
    await setUp(rig.plugin(), labelled("a", "s0:c1"), source);
    expect(rig.csi.calls[0]?.request["use"]).toMatchObject({ access: { mountFlags: [] } });
  });
});

describe("a volume that has grown", () => {
  const grown = (status: PersistentVolumeClaimStatus = {}, more: { readOnly?: boolean } = {}) =>
    persistent(1, { capacity: { storage: "2Gi" } }, { ...more, status: { capacity: { storage: "1Gi" }, ...status } });
  const success = {
    type: "Normal",
    reason: "FileSystemResizeSuccessful",
    message: 'MountVolume.NodeExpandVolume succeeded for volume "pv-1" node-1',
  };

  it("is expanded when it is mounted, and its claim told", async () => {
    const rig = createCsiRig();
    const conditions = [
      { type: "FileSystemResizePending", status: "True" },
      { type: "Other", status: "True" },
    ];
    const plugin = rig.plugin();
    const pending = grown({ conditions, allocatedResourceStatuses: { storage: "NodeResizePending" } });
    await setUp(plugin, podOf("a"), pending);
    expect(rig.csi.volumes.get("vol-1")?.capacityBytes).toBe(2n * 1024n ** 3n);
    expect(rig.claimStatuses).toEqual([
      { capacity: { storage: "1Gi" }, conditions, allocatedResourceStatuses: { storage: "NodeResizeInProgress" } },
      { capacity: { storage: "2Gi" }, conditions: [{ type: "Other", status: "True" }] },
    ]);
    expect(rig.events).toEqual([success]);
    // The claim as it was is still what the pod's next set-up hears of.
    await setUp(plugin, podOf("a"), pending);
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok", "Expand ok"]);
  });

  it("is expanded while a pod has it; a failure leaves the pod what it has, and is tried again later", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    const ready = await setUp(plugin, podOf("a"), persistent(1));
    rig.csi.faults.before = () => {
      throw new CodedError("internal", "no luck");
    };
    expect(await setUp(plugin, podOf("a"), grown())).toEqual(ready);
    expect(rig.events).toMatchObject([
      {
        reason: "VolumeResizeFailed",
        message: expect.stringMatching(/^NodeExpandVolume\.NodeExpandVolume failed for volume "pv-1" : .*no luck/),
      },
    ]);
    delete rig.csi.faults.before;
    await setUp(plugin, podOf("a"), grown());
    expect(callsOf(rig.csi)).toHaveLength(3);
    await rig.host.clock.advance(500);
    await setUp(plugin, podOf("a"), grown());
    expect(rig.events.at(-1)).toEqual(success);
  });

  it.each([
    ["a controller has to decide first", { allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } }, {}, []],
    ["the pod may only read", {}, { readOnly: true }, ["FileSystemResizeFailed"]],
  ])("is left as it is where %s", async (_why, status, more, reasons) => {
    const rig = createCsiRig();
    await setUp(rig.plugin(), podOf("a"), grown(status, more));
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok"]);
    expect(rig.events.map(({ reason }) => reason)).toEqual(reasons);
  });

  it("beyond what the driver can is told to the claim, and keeps the pod waiting", async () => {
    const rig = createCsiRig({ volumes: { "vol-1": { maxCapacityBytes: 1n } } });
    const attempt = setUp(
      rig.plugin(),
      podOf("a"),
      grown({ allocatedResourceStatuses: { storage: "NodeResizeInProgress" } }),
    );
    await expect(attempt).rejects.toThrow(
      'MountVolume.Setup failed while expanding volume for volume "pv-1" : Expander.NodeExpand failed to expand the volume : ',
    );
    expect(rig.claimStatuses.at(-1)).toMatchObject({
      allocatedResourceStatuses: { storage: "NodeResizeInfeasible" },
      conditions: [{ type: "NodeResizeError", status: "True" }],
    });
  });

  it.each([
    { code: "failed-precondition", why: "cannot be expanded while it is used" },
    { code: "unimplemented", why: "is expanded without the node" },
  ] as const)("that $why is given to the pod all the same", async ({ code }) => {
    const rig = createCsiRig();
    rig.csi.faults.before = ({ rpc }) => {
      if (rpc === "NodeExpandVolume") throw new CodedError(code, "no");
    };
    const plugin = rig.plugin();
    for (let round = 0; round < 2; round++) await setUp(plugin, podOf("a"), grown());
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok", `Expand ${code}`]);
  });
});

describe("statistics", () => {
  const { signal } = new AbortController();
  const condition = { abnormal: true, message: "gone" };
  const createRig = (capabilities = [...STAGES, "VOLUME_CONDITION" as const]) =>
    createCsiRig({ capabilities, volumes: { "vol-1": { condition } } });

  it("tell how full a pod's volume is and, where that is asked for, how it is", async () => {
    const rig = createRig();
    const measured = { pod: podOf("a"), source: persistent(1) };
    const full = { bytes: { total: 1024n ** 3n, used: 0n }, inodes: { used: 0n } };
    for (const [volumeHealth, told] of [[true, condition] as const, [false, undefined] as const]) {
      const plugin = rig.plugin({ volumeHealth });
      await setUp(plugin, measured.pod, measured.source);
      expect(await plugin.stats(measured, signal)).toMatchObject({ ...full, condition: told });
      expect(await plugin.stats({ ...measured, pod: podOf("b") }, signal)).toBeUndefined();
      plugin.forget?.("a");
      expect(await plugin.stats(measured, signal)).toBeUndefined();
    }
  });

  it.each([
    ["has no statistics", STAGES.filter((capability) => capability !== "GET_VOLUME_STATS"), true],
    ["is not there any more", STAGES, false],
  ])("are not asked of a driver that %s", async (_, capabilities, isRegistered) => {
    const rig = createCsiRig({ capabilities, volumes: { "vol-1": {} } });
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    rig.isRegistered = isRegistered;
    expect(await plugin.stats({ pod: podOf("a"), source: persistent(1) }, signal)).toBeUndefined();
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok"]);
  });

  it("reject when the driver fails", async () => {
    const rig = createRig();
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    rig.csi.stop();
    await expect(plugin.stats({ pod: podOf("a"), source: persistent(1) }, signal)).rejects.toMatchObject({
      rpc: "NodeGetVolumeStats",
      code: "unavailable",
    });
  });
});
