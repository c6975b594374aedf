import { beforeEach, describe, expect, test } from "vitest";
import { attachmentName, uniqueVolumeName } from "../../api/csi-volumes.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import {
  claim,
  createStorageBench,
  node,
  type PodOptions,
  pod,
  type StorageBench,
  volume,
} from "./__fixtures__/storage-bench.ts";
import { createAttachDetach } from "./attach-detach.ts";

const DRIVER = "csi.example.com";
const MINUTE_MS = 60_000;
const ATTACHMENTS = "volumeattachments.storage.k8s.io";

let bench: StorageBench;
beforeEach(() => {
  bench = createStorageBench();
  bench.start(createAttachDetach(bench.deps));
});

const handleOf = (name: string) => ({ driver: DRIVER, volumeHandle: `h-${name}` });
const inUse = (name: string) => uniqueVolumeName(handleOf(name));
const attached = (name: string) => ({ name: inUse(name), devicePath: "" });
const attachmentOf = (name: string, nodeName = "n1") => `${ATTACHMENTS} ${attachmentName(handleOf(name), nodeName)}`;

/** Writes a claim and its volume, bound to each other. */
async function putBound(name: string, parts: Parameters<typeof volume>[1] = {}): Promise<void> {
  const metadata = { uid: `uid-${name}` };
  const bound = { ...claim(name, { volumeName: name, metadata }), status: { phase: "Bound" } };
  await bench.put("persistentvolumeclaims", bound);
  const claimRef = { namespace: "default", name, uid: `uid-${name}` };
  await bench.put("persistentvolumes", volume(name, { csi: handleOf(name), claimRef, ...parts }));
}
const putPod = (name: string, options: PodOptions = {}) => {
  return bench.put("pods", pod(name, { claims: ["data"], nodeName: "n1", ...options }));
};
const putNode = (name: string, parts: Parameters<typeof node>[1] = {}) => bench.put("nodes", node(name, parts));
const setStatus = (target: string, status: object) => {
  return bench.change(
    target,
    (object) => ({ ...object, status: { ...Object(object["status"]), ...status } }),
    "status",
  );
};
/** Acts as the driver's attacher. */
const attach = (name: string, nodeName = "n1") => setStatus(attachmentOf(name, nodeName), { attached: true });
const attachments = () => {
  return bench.reader.list(ATTACHMENTS).map((object) => {
    const { spec } = typed("VolumeAttachment", object);
    return `${spec.source.persistentVolumeName} ${spec.nodeName}`;
  });
};
const listed = (nodeName = "n1") => {
  const found = bench.at(`nodes ${nodeName}`);
  return found && (typed("Node", found).status?.volumesAttached ?? []);
};

describe("a volume that a pod uses on a node", () => {
  test("is attached there, told in the node's status when it is, and to the pod", async () => {
    await putNode("n1");
    await putBound("data");
    await putPod("app");
    expect(bench.at(attachmentOf("data"))).toMatchObject({
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      spec: { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "data" } },
    });
    expect(listed()).toEqual([]);
    await attach("data");
    expect(listed()).toEqual([attached("data")]);
    expect(bench.events()).toEqual(['Normal SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "data" ']);
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test("is attached whoever comes last: claim, node or pod", async () => {
    await putPod("app");
    await putNode("n1");
    expect(attachments()).toEqual([]);
    await putBound("data");
    expect(attachments()).toEqual(["data n1"]);
  });

  test("is attached once for two pods", async () => {
    await putNode("n1");
    await putBound("data");
    await putPod("a");
    await putPod("b");
    expect(attachments()).toEqual(["data n1"]);
    await bench.drop("pods a");
    expect(attachments()).toEqual(["data n1"]);
  });

  test("that cannot be attached is told to the pod, once for each reason", async () => {
    await putNode("n1");
    await putBound("data");
    await putPod("app");
    for (const message of ["no such disk", "no such disk", "quota"]) {
      await setStatus(attachmentOf("data"), { attached: false, attachError: { message, time: `${message.length}` } });
    }
    expect(bench.events()).toEqual([
      'Warning FailedAttachVolume: AttachVolume.Attach failed for volume "data" : no such disk',
      'Warning FailedAttachVolume: AttachVolume.Attach failed for volume "data" : quota',
    ]);
  });

  const driver = (attachRequired: boolean): KubeObject => ({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: DRIVER },
    spec: { attachRequired },
  });
  const putDriver = (attachRequired: boolean) => bench.put("csidrivers.storage.k8s.io", driver(attachRequired));
  const setVolume = (spec: object) => bench.change("persistentvolumes data", (object) => ({ ...object, spec }));
  test.each<[string, () => Promise<unknown>, string[]]>([
    ["with nothing wrong", async () => undefined, ["data n1"]],
    ["of a driver that attaches", () => putDriver(true), ["data n1"]],
    ["of a driver that does not attach", () => putDriver(false), []],
    ["of a pod that has ended", () => setStatus("pods app", { phase: "Failed" }), []],
    ["that refers to no claim", () => setVolume({ csi: handleOf("data") }), []],
    ["of a claim that is not bound", () => setStatus("persistentvolumeclaims data", { phase: "Pending" }), []],
    ["of another kind", () => setVolume({ nfs: {}, claimRef: { uid: "uid-data" } }), []],
  ])("is attached when it should: one %s", async (_case, prepare, expected) => {
    await putBound("data");
    await putPod("app");
    await prepare();
    await putNode("n1");
    expect(attachments()).toEqual(expected);
  });

  test("is left to a node that attaches by itself", async () => {
    await putBound("data");
    await putPod("app");
    await bench.put("nodes", { ...node("n1"), metadata: { name: "n1" } });
    expect(attachments()).toEqual([]);
  });

  test("that was made for the pod is attached, and for another pod it is not", async () => {
    const volumes = [{ name: "x", ephemeral: {} }];
    await putNode("n1");
    await putBound("app-x");
    await putPod("app", { claims: [], volumes, metadata: { uid: "u1" } });
    expect(attachments()).toEqual([]);
    await bench.change("persistentvolumeclaims app-x", (object) => {
      const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "app", uid: "u1", controller: true }];
      return { ...object, metadata: { ...object.metadata, ownerReferences } };
    });
    expect(attachments()).toEqual(["app-x n1"]);
  });
});

describe("a volume that no pod uses any more", () => {
  beforeEach(async () => {
    await putNode("n1");
    await putBound("data");
    await putPod("app");
    await attach("data");
  });

  test("is detached at once, and not told in the node's status before that", async () => {
    await bench.drop("pods app");
    expect(attachments()).toEqual([]);
    expect(listed()).toEqual([]);
    const order = bench.writes.filter((write) => /^update nodes|^delete volumeatt/.test(write)).slice(-2);
    expect(order).toEqual(["update nodes/n1 status", expect.stringMatching(/^delete volumeattachments/)]);
  });

  test("stays for as long as the node says that it uses it", async () => {
    await setStatus("nodes n1", { volumesInUse: [inUse("data")] });
    await bench.drop("pods app");
    await bench.clock.advance(60 * MINUTE_MS);
    expect(attachments()).toEqual(["data n1"]);
    expect(listed()).toEqual([attached("data")]);
    await setStatus("nodes n1", { volumesInUse: [] });
    expect(attachments()).toEqual([]);
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test("stays when the node begins to use it at the last moment", async () => {
    let isFirst = true;
    bench.feed.follow("nodes", ({ object }) => {
      const { volumesAttached = [], ...status } = typed("Node", object).status ?? {};
      if (!isFirst || volumesAttached.length > 0) return;
      isFirst = false;
      // The node writes between our two writes. It may not change the list of attached volumes.
      void bench.writer.update(
        "nodes",
        { ...object, status: { ...status, volumesAttached, volumesInUse: [inUse("data")] } },
        "status",
      );
    });
    await bench.drop("pods app");
    expect(isFirst).toBe(false);
    expect(attachments()).toEqual(["data n1"]);
    expect(listed()).toEqual([attached("data")]);
  });

  test("is wanted again by a pod that comes before the node has let go", async () => {
    await setStatus("nodes n1", { volumesInUse: [inUse("data")] });
    await bench.drop("pods app");
    await putPod("next");
    await setStatus("nodes n1", { volumesInUse: [] });
    expect(attachments()).toEqual(["data n1"]);
  });

  test("is taken from a node that does not answer after six minutes", async () => {
    const conditions = [{ type: "Ready", status: "Unknown" }];
    await setStatus("nodes n1", { volumesInUse: [inUse("data")], conditions });
    await bench.drop("pods app");
    await bench.clock.advance(6 * MINUTE_MS - 1);
    expect(attachments()).toEqual(["data n1"]);
    await bench.clock.advance(1);
    expect(attachments()).toEqual([]);
  });

  test("is taken at once from a node that is out of service", async () => {
    await setStatus("nodes n1", { volumesInUse: [inUse("data")], conditions: [{ type: "Ready", status: "Unknown" }] });
    await bench.drop("pods app");
    const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
    await bench.change("nodes n1", (object) => ({ ...object, spec: { taints } }));
    expect(attachments()).toEqual([]);
  });

  test("is taken from a node that is gone when its pods are", async () => {
    await setStatus("nodes n1", { volumesInUse: [inUse("data")] });
    await bench.drop("nodes n1");
    expect(attachments()).toEqual(["data n1"]);
    await bench.drop("pods app");
    expect(attachments()).toEqual([]);
  });

  test("is detached also when its object is gone, unless the node uses it", async () => {
    await setStatus("nodes n1", { volumesInUse: [inUse("data")] });
    await bench.drop("persistentvolumes data");
    await bench.drop("pods app");
    expect(attachments()).toEqual(["data n1"]);
    await setStatus("nodes n1", { volumesInUse: [] });
    expect(attachments()).toEqual([]);
  });

  test("has ended with its containers when the pod is on its way out", async () => {
    const containerStatuses = [
      { name: "main", image: "i", imageID: "", ready: true, restartCount: 0, state: { running: {} } },
    ];
    await setStatus("pods app", { phase: "Running", containerStatuses });
    await bench.writer.remove({ resource: "pods", namespace: "default", name: "app" });
    await bench.clock.settle();
    expect(attachments()).toEqual(["data n1"]);
    const [first] = containerStatuses;
    await setStatus("pods app", { containerStatuses: [{ ...first, state: { terminated: { exitCode: 0 } } }] });
    expect(attachments()).toEqual([]);
  });

  test("is attached anew once its attacher is done with the old attachment", async () => {
    await bench.change(attachmentOf("data"), (object) => {
      return { ...object, metadata: { ...object.metadata, finalizers: ["external-attacher/x"] } };
    });
    await bench.drop("pods app");
    await putPod("next");
    expect(bench.at(attachmentOf("data"))?.metadata.deletionTimestamp).toBeDefined();
    expect(listed()).toEqual([]);
    await bench.change(attachmentOf("data"), (object) => {
      return { ...object, metadata: { ...object.metadata, finalizers: [] } };
    });
    expect(bench.at(attachmentOf("data"))?.metadata.deletionTimestamp).toBeUndefined();
    expect(attachments()).toEqual(["data n1"]);
  });
});

test("an attachment that somebody made by hand is left alone", async () => {
  await putNode("n1");
  await putBound("data");
  const spec = { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "data" } };
  await bench.put(ATTACHMENTS, {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: "mine" },
    spec,
  });
  expect(attachments()).toEqual(["data n1"]);
});

describe("a volume of a cloud", () => {
  const EBS = { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" };
  const target = `${ATTACHMENTS} ${attachmentName(EBS, "n1")}`;
  const awsElasticBlockStore = { volumeID: "aws://eu-1a/vol-1" };

  test("is attached by the driver that serves it", async () => {
    await putNode("n1");
    const bound = { ...claim("data", { volumeName: "data", metadata: { uid: "uid" } }), status: { phase: "Bound" } };
    await bench.put("persistentvolumeclaims", bound);
    const claimRef = { namespace: "default", name: "data", uid: "uid" };
    await bench.put("persistentvolumes", volume("data", { awsElasticBlockStore, claimRef }));
    await putPod("app");
    const source = { persistentVolumeName: "data" };
    expect(bench.at(target)).toMatchObject({ spec: { attacher: EBS.driver, nodeName: "n1", source } });
    await setStatus(target, { attached: true });
    expect(listed()).toEqual([{ name: uniqueVolumeName(EBS), devicePath: "" }]);
  });

  test("is attached by what it is where a pod names it itself, and for one node at a time", async () => {
    for (const name of ["n1", "n2"]) await putNode(name);
    const volumes = [{ name: "v", awsElasticBlockStore }];
    await putPod("app", { claims: [], volumes });
    expect(bench.at(target)).toMatchObject({
      spec: { attacher: EBS.driver, source: { inlineVolumeSpec: { csi: EBS, accessModes: ["ReadWriteOnce"] } } },
    });
    await setStatus(target, { attached: true });
    await putPod("second", { claims: [], volumes, nodeName: "n2" });
    expect(bench.events().at(-1)).toMatch(/FailedAttachVolume: Multi-Attach error for volume "ebs.csi.aws.com-vol-1"/);
    await bench.drop("pods app");
    expect(bench.at(target)).toBeUndefined();
    expect(bench.at(`${ATTACHMENTS} ${attachmentName(EBS, "n2")}`)).toBeDefined();
  });

  test("that no driver serves is not attached", async () => {
    await putNode("n1");
    const azureDisk = { diskName: "d", diskURI: "u", kind: "Dedicated" };
    await putPod("app", { claims: [], volumes: [{ name: "v", azureDisk }] });
    expect(attachments()).toEqual([]);
  });
});

test("what a start finds attached and unused is detached", async () => {
  bench = createStorageBench();
  await putNode("n1", { status: { volumesAttached: [attached("data"), attached("gone")] } });
  await putBound("data");
  const spec = { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "data" } };
  const metadata = { name: attachmentName(handleOf("data"), "n1") };
  await bench.put(ATTACHMENTS, { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata, spec });
  bench.start(createAttachDetach(bench.deps));
  await bench.clock.settle();
  expect(attachments()).toEqual([]);
  expect(listed()).toEqual([]);
});

describe("a volume for one node", () => {
  const accessModes = (mode: string) => ({ accessModes: [mode] });
  const run = async (mode: string, other: PodOptions = {}) => {
    await putNode("n1");
    await putNode("n2");
    await putBound("data", accessModes(mode));
    await putPod("a");
    await attach("data");
    await putPod("b", { nodeName: "n2", ...other });
  };

  test.each(["ReadWriteOnce", "ReadWriteOncePod"])("is not attached to two: %s", async (mode) => {
    await run(mode);
    expect(attachments()).toEqual(["data n1"]);
    expect(bench.events()).toContain(
      'Warning FailedAttachVolume: Multi-Attach error for volume "data" Volume is already used by pod(s) a',
    );
    await bench.drop("pods a");
    expect(attachments()).toEqual(["data n2"]);
  });

  test.each(["ReadWriteMany", "ReadOnlyMany"])("is, when it is for many: %s", async (mode) => {
    await run(mode);
    expect(attachments().sort()).toEqual(["data n1", "data n2"]);
  });

  test("is said to be held by a node whose pod is gone already, once", async () => {
    await run("ReadWriteOnce", { claims: [] });
    await setStatus("nodes n1", { volumesInUse: [inUse("data")] });
    await bench.drop("pods a");
    await putPod("c", { nodeName: "n2" });
    await bench.clock.advance(MINUTE_MS);
    await setStatus("nodes n2", { phase: "Running" });
    const events = bench.reader.list("events").filter(({ reason }) => reason === "FailedAttachVolume");
    expect(events.map(({ message, count }) => `${message} ${count}`)).toEqual([
      `Multi-Attach error for volume "data" Volume is already exclusively attached to one node and can't be attached to another 1`,
    ]);
  });

  test("goes to one of two pods that want it at the same moment", async () => {
    await putNode("n1");
    await putNode("n2");
    await putBound("data", accessModes("ReadWriteOnce"));
    const both = ["n1", "n2"].map((nodeName) =>
      bench.create("pods", pod(`on-${nodeName}`, { claims: ["data"], nodeName })),
    );
    await Promise.all(both);
    await bench.clock.settle();
    expect(attachments()).toHaveLength(1);
  });
});
