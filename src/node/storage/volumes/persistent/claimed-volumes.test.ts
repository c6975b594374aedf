import { beforeEach, describe, expect, it } from "vitest";
import type { OwnerReference, Pod, Volume } from "../../../../api/gen/types.ts";
import { AbortedError } from "../../../../base/abort.ts";
import { createFakeClock, type FakeClock } from "../../../../host/fake/fake-clock.ts";
import { VolumeOperationError } from "../volume-error.ts";
import { boundClaim, boundVolume, createFakeClaims, type FakeClaims } from "./__fixtures__/claims.ts";
import { createClaimedVolumes, type RememberedClaims } from "./claimed-volumes.ts";

const DATA: Volume = { name: "data", persistentVolumeClaim: { claimName: "data" } };
const SCRATCH: Volume = { name: "scratch", ephemeral: {} };
const UNBOUND =
  "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], " +
  "failed to process volumes=[data]: error processing PVC shop/data: ";
const signal = new AbortController().signal;

let clock: FakeClock;
let claims: FakeClaims;
let claimed: RememberedClaims;
let nodeLabels: Record<string, string>;

const podOf = (uid = "uid-1", container: object = { volumeMounts: [{ name: "data", mountPath: "/data" }] }): Pod => ({
  metadata: { namespace: "shop", name: "web", uid },
  spec: { containers: [{ name: "main", ...container }] },
});
/** The volume's name and its claim's, or the error. */
const resolve = async (volume = DATA, pod = podOf()) =>
  await claimed.resolve(pod, volume, signal).then(
    ({ persistentVolume, claim }) => `${persistentVolume.metadata?.name} of ${claim.metadata?.name}`,
    (error: unknown) => error,
  );
const restart = () => {
  claimed = createClaimedVolumes({
    claims,
    clock,
    node: async () => await Promise.resolve({ name: "node-1", labels: nodeLabels }),
  });
};

beforeEach(() => {
  clock = createFakeClock();
  claims = createFakeClaims();
  nodeLabels = { zone: "a" };
  restart();
});

it("a bound claim leads to its volume", async () => {
  expect(await resolve()).toBe("pv-1 of data");
  expect(claims.calls).toEqual(["claim shop/data", "volume pv-1"]);
});

it.each([
  [undefined, false],
  [true, true],
])("readOnly %s of the pod's volume counts for all of it", async (readOnly, expected) => {
  const source = { claimName: "data", ...(readOnly === undefined ? {} : { readOnly }) };
  const found = await claimed.resolve(podOf(), { name: "data", persistentVolumeClaim: source }, signal);
  expect(found.readOnly).toBe(expected);
});

describe("a volume of a cloud", () => {
  const bind = (awsElasticBlockStore: { volumeID: string }) => {
    const nodeAffinity = {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["eu-1a"] }] },
        ],
      },
    };
    claims.volumes.set("pv-1", boundVolume("pv-1", boundClaim("data", "pv-1"), { awsElasticBlockStore, nodeAffinity }));
  };

  it("is that of the driver that serves it, on the nodes that the driver knows", async () => {
    bind({ volumeID: "aws://eu-1a/vol-1" });
    expect(await resolve()).toMatchObject({ message: expect.stringContaining("NodeAffinity check failed") });
    nodeLabels = { "topology.ebs.csi.aws.com/zone": "eu-1a" };
    const { persistentVolume } = await claimed.resolve(podOf(), DATA, signal);
    expect(persistentVolume.spec).toMatchObject({ csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" } });
    expect(persistentVolume.spec).not.toHaveProperty("awsElasticBlockStore");
  });

  it("says why none serves it", async () => {
    bind({ volumeID: "aws://eu-1a/disk" });
    const why = "failed to translate in-tree pv to CSI: failed to translate Kubernetes ID to EBS Volume ID";
    expect(await resolve()).toMatchObject({ message: expect.stringContaining(why) });
  });
});

describe("there is no volume", () => {
  const cases: Array<[string, () => void, string]> = [
    [
      "without the claim",
      () => claims.byName.clear(),
      'failed to fetch PVC from API server: persistentvolumeclaims "data" not found',
    ],
    [
      "of a claim that is being deleted",
      () => editClaim({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      "PVC is being deleted",
    ],
    ["of a claim that waits", () => editClaim({ status: { phase: "Pending" } }), "PVC is not bound"],
    ["of a claim that has lost it", () => editClaim({ status: { phase: "Lost" } }), "PVC is not bound"],
    ["of a claim that has no status yet", () => editClaim({ status: {} }), "PVC is not bound"],
    ["of a claim that names none", () => editClaim({ spec: {} }), "PVC has empty pvc.Spec.VolumeName"],
    [
      "where it is gone",
      () => claims.volumes.clear(),
      'failed to fetch PV pv-1 from API server: persistentvolumes "pv-1" not found',
    ],
    [
      "where it does not know of the claim yet",
      () => claims.volumes.set("pv-1", { metadata: { name: "pv-1" }, spec: {} }),
      "found PV object pv-1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim",
    ],
    [
      "where it was bound to an earlier claim of that name",
      () => claims.volumes.set("pv-1", { metadata: { name: "pv-1" }, spec: { claimRef: { uid: "uid-old" } } }),
      "found PV object pv-1 but its pv.Spec.ClaimRef.UID uid-old does not point to claim.UID uid-of-data",
    ],
  ];
  it.each(cases)("%s", async (_case, prepare, reason) => {
    prepare();
    const error = await resolve();
    expect(error).toBeInstanceOf(VolumeOperationError);
    expect(error).toMatchObject({ message: UNBOUND + reason, reason: "FailedMount", retryAfterMs: 500 });
  });

  const editClaim = (change: object) => claims.byName.set("shop/data", { ...boundClaim("data", "pv-1"), ...change });
});

it.each([
  ["Block", "volumeMounts"],
  ["Filesystem", "volumeDevices"],
  [undefined, "volumeDevices"],
])("a volume of mode %s is not for %s", async (volumeMode, list) => {
  const mode = volumeMode === undefined ? {} : { volumeMode };
  claims.volumes.set("pv-1", boundVolume("pv-1", boundClaim("data", "pv-1"), mode));
  const error = await resolve(DATA, podOf("uid-1", { [list]: [{ name: "data" }] }));
  expect(error).toMatchObject({
    message: expect.stringMatching(
      new RegExp(`: volume data has volumeMode ${volumeMode ?? "Filesystem"}, but is specified in ${list}$`),
    ),
  });
});

it("a volume of mode Block is for volumeDevices", async () => {
  claims.volumes.set("pv-1", boundVolume("pv-1", boundClaim("data", "pv-1"), { volumeMode: "Block" }));
  expect(await resolve(DATA, podOf("uid-1", { volumeDevices: [{ name: "data" }] }))).toBe("pv-1 of data");
});

describe("the claim of an ephemeral volume", () => {
  const owner = (fields: object): OwnerReference => ({
    apiVersion: "v1",
    kind: "Pod",
    name: "web",
    uid: "uid-1",
    controller: true,
    ...fields,
  });
  const putClaim = (ownerReferences: OwnerReference[]) => {
    const claim = boundClaim("web-scratch", "pv-2");
    claims.byName.set("shop/web-scratch", { ...claim, metadata: { ...claim.metadata, ownerReferences } });
    claims.volumes.set("pv-2", boundVolume("pv-2", claim, {}));
  };

  it("is named after the pod and the volume", async () => {
    putClaim([owner({})]);
    expect(await resolve(SCRATCH)).toBe("pv-2 of web-scratch");
  });

  it.each([
    ["nobody", []],
    ["an earlier pod of that name", [owner({ uid: "uid-0" })]],
    ["the pod, but not as its controller", [owner({ controller: false })]],
  ])("that belongs to %s is refused", async (_case, owners) => {
    putClaim(owners);
    expect(await resolve(SCRATCH)).toMatchObject({
      message:
        "Unable to attach or mount volumes: unmounted volumes=[scratch], unattached volumes=[], " +
        "failed to process volumes=[scratch]: " +
        "PVC shop/web-scratch was not created for pod shop/web (pod is not owner)",
    });
  });
});

describe("a volume that is not everywhere", () => {
  const put = (volumeMode = "Filesystem") => {
    const terms = [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }];
    const spec = { volumeMode, nodeAffinity: { required: { nodeSelectorTerms: terms } } };
    claims.volumes.set("pv-1", boundVolume("pv-1", boundClaim("data", "pv-1"), spec));
  };

  it("is had on its nodes, also when a label goes later", async () => {
    put();
    expect(await resolve()).toBe("pv-1 of data");
    nodeLabels = {};
    await clock.advance(60_000);
    expect(await resolve()).toBe("pv-1 of data");
  });

  it.each([
    ["Filesystem", { volumeMounts: [{ name: "data" }] }, "MountVolume"],
    ["Block", { volumeDevices: [{ name: "data" }] }, "MapVolume"],
  ])("and is of mode %s is refused on others", async (volumeMode, container, operation) => {
    put(volumeMode);
    nodeLabels = { zone: "b" };
    expect(await resolve(DATA, podOf("uid-1", container))).toMatchObject({
      message: `${operation}.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms`,
      reason: "FailedMount",
      retryAfterMs: 500,
    });
  });
});

it("waits longer each time for a claim that nobody binds, and starts over when it was bound", async () => {
  claims.byName.set("shop/data", { ...boundClaim("data", "pv-1"), status: { phase: "Pending" } });
  const waits: unknown[] = [];
  for (let attempt = 0; attempt < 7; attempt++) {
    const error = await resolve();
    const waitMs = error instanceof VolumeOperationError ? (error.retryAfterMs ?? 0) : 0;
    waits.push(waitMs);
    await clock.advance(waitMs);
  }
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  claims.byName.set("shop/data", boundClaim("data", "pv-1"));
  expect(await resolve()).toBe("pv-1 of data");
});

it("a pod that is gone does not make the next of its UID wait", async () => {
  claims.byName.clear();
  for (let attempt = 0; attempt < 3; attempt++) await resolve();
  claimed.forget("uid-1");
  expect(await resolve()).toMatchObject({ retryAfterMs: 500 });
});

it.each([
  ["that is about to be bound", "Pending", { "pv.kubernetes.io/bind-completed": "yes" }, true],
  ["that is bound to nothing", "Pending", {}, false],
  ["that has lost its volume", "Lost", { "pv.kubernetes.io/bind-completed": "yes" }, false],
])("a claim %s: waiting for it is no event at first: %s", async (_which, phase, annotations, isQuiet) => {
  const { metadata, ...bound } = boundClaim("data", "pv-1");
  claims.byName.set("shop/data", { ...bound, metadata: { ...metadata, annotations }, status: { phase } });
  expect(await resolve()).toMatchObject({ isQuiet, retryAfterMs: 500 });
  for (let attempt = 0; attempt < 4; attempt++) await resolve();
  expect(await resolve()).toMatchObject({ isQuiet: false, retryAfterMs: 10_000 });
});

it("reads again what a pod uses after ten seconds, and for each pod", async () => {
  for (let second = 0; second < 10; second += 2) {
    await resolve();
    await clock.advance(2_000);
  }
  expect(claims.calls).toHaveLength(2);
  await resolve();
  expect(claims.calls).toHaveLength(4);
  await resolve(DATA, podOf("uid-2"));
  expect(claims.calls).toHaveLength(6);
});

it("shows a claim's growth to the pod that runs on it", async () => {
  await resolve();
  const status = { phase: "Bound", capacity: { storage: "2Gi" } };
  claims.byName.set("shop/data", { ...boundClaim("data", "pv-1"), status });
  await clock.advance(60_000);
  const { claim } = await claimed.resolve(podOf(), DATA, signal);
  expect(claim.status?.capacity).toEqual({ storage: "2Gi" });
});

describe("a pod that has its volume keeps it", () => {
  it.each<[string, () => void]>([
    ["a server that is away", () => (claims.outage = new Error("connect ECONNREFUSED"))],
    ["a claim that is gone", () => claims.byName.clear()],
    [
      "a claim that was made again and is bound elsewhere",
      () => {
        const claim = { ...boundClaim("data", "pv-2"), metadata: { namespace: "shop", name: "data", uid: "uid-new" } };
        claims.byName.set("shop/data", claim);
        claims.volumes.set("pv-2", boundVolume("pv-2", claim, {}));
      },
    ],
  ])("in spite of %s", async (_case, happen) => {
    await resolve();
    happen();
    await clock.advance(60_000);
    expect(await resolve()).toBe("pv-1 of data");
  });

  it("but not over a restart, when nobody can say which it was", async () => {
    await resolve();
    claims.byName.clear();
    restart();
    expect(await resolve()).toBeInstanceOf(VolumeOperationError);
  });
});

it("an abort is passed on", async () => {
  const controller = new AbortController();
  controller.abort();
  await expect(claimed.resolve(podOf(), DATA, controller.signal)).rejects.toBeInstanceOf(AbortedError);
});

it("keeps nothing of pods beyond a number of them", async () => {
  for (let pod = 0; pod <= 2_048; pod++) await resolve(DATA, podOf(`uid-${pod}`));
  claims.calls.length = 0;
  await resolve(DATA, podOf("uid-2048"));
  expect(claims.calls).toHaveLength(0);
  await resolve(DATA, podOf("uid-0"));
  expect(claims.calls).toHaveLength(2);
});
