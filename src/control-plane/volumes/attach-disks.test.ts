import { beforeEach, describe, expect, test } from "vitest";
import { typed } from "../../api/object.ts";
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

const MINUTE_MS = 60_000;
const ISCSI = { targetPortal: "10.0.0.1:3260", iqn: "iqn.2026-11.com.example:disk", lun: 1 };
const NAME = `kubernetes.io/iscsi/${ISCSI.targetPortal}:${ISCSI.iqn}:1`;

let bench: StorageBench;
beforeEach(async () => {
  bench = createStorageBench();
  bench.start(createAttachDetach(bench.deps));
  for (const name of ["n1", "n2"]) await bench.put("nodes", node(name));
  await putBound(["ReadWriteOnce"]);
});

async function putBound(accessModes: string[]): Promise<void> {
  const metadata = { uid: "uid-data" };
  const bound = { ...claim("data", { volumeName: "data", metadata }), status: { phase: "Bound" } };
  await bench.put("persistentvolumeclaims", bound);
  const claimRef = { namespace: "default", name: "data", uid: "uid-data" };
  await bench.put("persistentvolumes", volume("data", { iscsi: ISCSI, claimRef, accessModes }));
}
const putPod = (name: string, options: PodOptions = {}) => {
  return bench.put("pods", pod(name, { claims: ["data"], nodeName: "n1", ...options }));
};
const setStatus = (name: string, status: object) => {
  return bench.change(
    `nodes ${name}`,
    (object) => ({ ...object, status: { ...Object(object["status"]), ...status } }),
    "status",
  );
};
const listed = (name = "n1") => {
  const found = bench.at(`nodes ${name}`);
  return found && (typed("Node", found).status?.volumesAttached ?? []).map((volumeOfNode) => volumeOfNode.name);
};
const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });

describe("a disk that nodes reach by themselves", () => {
  test("is listed for the node of its pod, without an attachment, and told to the pod", async () => {
    await putPod("app");
    expect(listed()).toEqual([NAME]);
    expect(bench.reader.list("volumeattachments.storage.k8s.io")).toEqual([]);
    expect(bench.events()).toEqual(['Normal SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "data" ']);
  });

  test("that a pod names itself is listed too", async () => {
    const fc = { targetWWNs: ["50060e801049cfd1"], lun: 0 };
    const app = pod("app", { claims: [], nodeName: "n1" });
    await bench.put("pods", { ...app, spec: { ...Object(app["spec"]), volumes: [{ name: "disk", fc }] } });
    expect(listed()).toEqual(["kubernetes.io/fc/[50060e801049cfd1]:0"]);
  });

  test("is struck off when no pod needs it and the node does not use it any more", async () => {
    await putPod("app");
    await setStatus("n1", { volumesInUse: [NAME], ...ready("True") });
    await bench.drop("pods app");
    expect(listed()).toEqual([NAME]);
    await setStatus("n1", { volumesInUse: [] });
    expect(listed()).toEqual([]);
  });

  test("goes to one node after the other where it is for one, which the waiting pod hears once", async () => {
    await putPod("app");
    await setStatus("n1", { volumesInUse: [NAME], ...ready("True") });
    await putPod("next", { nodeName: "n2" });
    expect(listed("n2")).toEqual([]);
    expect(bench.events().slice(1)).toEqual([
      'Warning FailedAttachVolume: Multi-Attach error for volume "data" Volume is already used by pod(s) app',
    ]);
    await bench.drop("pods app");
    await setStatus("n1", { volumesInUse: [] });
    expect({ one: listed("n1"), two: listed("n2") }).toEqual({ one: [], two: [NAME] });
  });

  test("is shared by nodes where its access modes say so", async () => {
    await bench.change("persistentvolumes data", (object) => ({
      ...object,
      spec: { ...Object(object["spec"]), accessModes: ["ReadOnlyMany"] },
    }));
    await putPod("app");
    await putPod("next", { nodeName: "n2" });
    expect({ one: listed("n1"), two: listed("n2") }).toEqual({ one: [NAME], two: [NAME] });
  });

  test("is taken from a node that does not answer, after six minutes", async () => {
    await putPod("app");
    await setStatus("n1", { volumesInUse: [NAME], ...ready("Unknown") });
    await putPod("next", { nodeName: "n2" });
    await bench.drop("pods app");
    await bench.clock.advance(6 * MINUTE_MS - 1);
    expect(listed("n2")).toEqual([]);
    await bench.clock.advance(1);
    expect({ one: listed("n1"), two: listed("n2") }).toEqual({ one: [], two: [NAME] });
  });

  test("is free again when its node is gone", async () => {
    await putPod("app");
    await putPod("next", { nodeName: "n2" });
    await bench.drop("nodes n1");
    expect(listed("n2")).toEqual([NAME]);
  });
});
