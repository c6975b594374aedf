import { beforeEach, describe, expect, it } from "vitest";
import type { NFSVolumeSource, PersistentVolumeSpec, Pod } from "../../../../api/gen/types.ts";
import { AbortedError } from "../../../../base/abort.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { boundClaim } from "../persistent/__fixtures__/claims.ts";
import { dieAfter } from "../persistent/__fixtures__/crash.ts";
import { createPodVolumes, type PodVolumes } from "../pod-volumes.ts";
import { createNfsPlugin } from "./nfs-plugin.ts";

const EXPORT: NFSVolumeSource = { server: "files.example.com", path: "/export" };
const mountOf = (uid: string, name = "data") => `/kubelet/pods/${uid}/volumes/kubernetes.io~nfs/${name}`;

let host: FakeHost;
let volumes: PodVolumes;
let nfs: NFSVolumeSource;
/** The export of the persistent volume `pv-1`; undefined: the pod names the export itself. */
let persistent: (PersistentVolumeSpec & { isReadOnlyClaim?: boolean }) | undefined;

const start = () => {
  const claims = {
    forget: () => undefined,
    resolve: async () => {
      const { isReadOnlyClaim: readOnly = false, ...spec } = persistent ?? {};
      const persistentVolume = { metadata: { name: "pv-1" }, spec: { nfs, ...spec } };
      const claim = boundClaim("data", "pv-1");
      return await Promise.resolve({ kind: "persistent" as const, persistentVolume, claim, readOnly });
    },
  };
  const { files, mounts } = host;
  volumes = createPodVolumes(
    { files, mounts, plugins: [createNfsPlugin({ files, mounts })], claims, subPaths: NO_SUB_PATHS },
    { rootDirectory: "/kubelet" },
  );
};

const NO_SUB_PATHS = { cleanUp: async () => undefined };

const podOf = (uid: string): Pod => {
  const source = persistent ? { persistentVolumeClaim: { claimName: "data" } } : { nfs };
  const container = { name: "main", volumeMounts: [{ name: "data", mountPath: "/data" }] };
  return {
    metadata: { namespace: "shop", name: "web", uid },
    spec: { containers: [container], volumes: [{ name: "data", ...source }] },
  };
};
const setUp = async (uid = "a", signal?: AbortSignal) => {
  const ready = await volumes.setUp(podOf(uid), signal);
  await ready.finished;
  return ready.volumes.get("data");
};
const mounted = () => host.mounts.mounted().filter(({ path }) => path !== "/");

beforeEach(() => {
  host = createFakeHost();
  host.files.put("/sbin/mount.nfs", "");
  nfs = EXPORT;
  persistent = undefined;
  start();
});

describe("an export", () => {
  it("is mounted in the pod's directory, once", async () => {
    for (let round = 0; round < 2; round++) {
      expect(await setUp()).toEqual({ kind: "files", hostPath: mountOf("a"), readOnly: false, relabel: false });
      start();
    }
    expect(mounted()).toMatchObject([
      { path: mountOf("a"), source: "files.example.com:/export", type: "nfs", options: ["rw"] },
    ]);
    expect(await host.files.stat("/kubelet/pods/a/volumes/kubernetes.io~nfs")).toMatchObject({ mode: 0o750 });
  });

  it("is unmounted with the pod, and keeps its files", async () => {
    await setUp("a");
    host.files.put(`${mountOf("a")}/file`, "kept");
    await volumes.tearDown("a");
    expect(mounted()).toEqual([]);
    expect(await host.files.stat("/kubelet/pods/a/volumes")).toBeUndefined();
    await setUp("b");
    expect(host.files.text(`${mountOf("b")}/file`)).toBe("kept");
  });

  it.each<[string, () => void, { options: string[]; readOnly: boolean; source?: string }]>([
    ["read-only, as the pod asks", () => (nfs = { ...EXPORT, readOnly: true }), { options: ["ro"], readOnly: true }],
    [
      "with the options of a persistent volume, each once",
      () => (persistent = { mountOptions: ["nfsvers=4.1", "hard", "hard"] }),
      { options: ["rw", "hard", "nfsvers=4.1"], readOnly: false },
    ],
    [
      "read-only for a claim of the pod that is",
      () => (persistent = { isReadOnlyClaim: true, mountOptions: ["hard"] }),
      { options: ["hard", "ro"], readOnly: true },
    ],
    [
      "writable for a persistent volume that says otherwise, as upstream",
      () => {
        nfs = { ...EXPORT, readOnly: true };
        persistent = {};
      },
      { options: ["rw"], readOnly: false },
    ],
    [
      "from an IPv6 address",
      () => (nfs = { ...EXPORT, server: "fd00::1" }),
      { options: ["rw"], readOnly: false, source: "[fd00::1]:/export" },
    ],
  ])("is mounted %s", async (_case, prepare, { options, readOnly, source = "files.example.com:/export" }) => {
    prepare();
    expect(await setUp()).toMatchObject({ readOnly });
    expect(mounted()).toMatchObject([{ options, source }]);
    expect(mounted()[0]?.path).toBe(mountOf("a", persistent ? "pv-1" : "data"));
  });
});

describe("a server that does not answer", () => {
  const hang = () =>
    host.mounts.intercept(async ({ operation, phase }) => {
      if (operation === "mountFileSystem" && phase === "before") await new Promise(() => undefined);
    });

  it("costs its own pod two minutes, and no other anything", async () => {
    const answer = hang();
    const stuck = setUp("a").catch((error: unknown) => error);
    await host.clock.settle();
    answer();
    await setUp("b");
    await host.clock.advance(119_000);
    expect(mounted().map(({ path }) => path)).toEqual([mountOf("b")]);
    await host.clock.advance(1_000);
    expect(await stuck).toMatchObject({ complaints: [{ reason: "FailedMount" }] });
    expect(String(await stuck)).toContain('MountVolume.SetUp failed for volume "data" : ETIMEDOUT');
    await volumes.tearDown("a");
    expect(await host.files.stat("/kubelet/pods/a/volumes")).toBeUndefined();
  });

  it("does not hold up a pod that is ended", async () => {
    hang();
    const controller = new AbortController();
    const stuck = setUp("a", controller.signal);
    await host.clock.settle();
    controller.abort();
    await expect(stuck).rejects.toBeInstanceOf(AbortedError);
    expect(host.clock.pendingTimers).toBe(0);
  });

  it("is not asked whether it is mounted still", async () => {
    await setUp();
    const asked: string[] = [];
    host.files.intercept(({ operation, path, phase }) => {
      if (phase === "before" && path.startsWith(mountOf("a"))) asked.push(operation);
    });
    host.mounts.intercept(({ operation, phase }) => {
      if (phase === "before") asked.push(operation);
    });
    await setUp();
    expect(asked).toEqual(["list"]);
  });

  it("does not hold up the end of its pod for longer than the time-out", async () => {
    await setUp();
    const answer = host.mounts.intercept(async ({ operation, phase }) => {
      if (operation === "unmount" && phase === "before") await new Promise(() => undefined);
    });
    const stuck = volumes.tearDown("a").catch((error: unknown) => error);
    await host.clock.advance(30_000);
    expect(String(await stuck)).toContain("ETIMEDOUT");
    answer();
    await volumes.tearDown("a");
    expect(mounted()).toEqual([]);
  });
});

it.each([
  [true, "mount.nfs: access denied by server"],
  [
    false,
    "mount.nfs: access denied by server (the program /sbin/mount.nfs is missing on this node: install nfs-common",
  ],
])("a mount that fails where the helper is there: %s", async (isThere, words) => {
  if (!isThere) host.files.delete("/sbin/mount.nfs");
  const repair = host.mounts.intercept(({ operation }) => {
    if (operation === "mountFileSystem") throw new Error("mount.nfs: access denied by server");
  });
  const failure = await setUp().catch((error: unknown) => String(error));
  expect(String(failure).startsWith(`VolumeError: MountVolume.SetUp failed for volume "data" : ${words}`)).toBe(true);
  expect(String(failure).includes("install")).toBe(!isThere);
  expect(await host.files.stat(mountOf("a"))).toBeUndefined();
  repair();
  await setUp();
});

it("a volume for one pod waits for the pod that has it", async () => {
  persistent = { accessModes: ["ReadWriteOncePod"] };
  await setUp("a");
  start();
  await expect(setUp("b")).rejects.toThrow(
    'MountVolume.SetUp failed for volume "pv-1" : ' +
      "volume uses the ReadWriteOncePod access mode and is already in use by another pod",
  );
  await volumes.tearDown("a");
  await setUp("b");
});

it("a process that dies at any step leaves what the next one sets up, and takes down without a rest", async () => {
  let deaths = 0;
  for (let step = 1; step <= 40; step++) {
    host = createFakeHost();
    start();
    const process = dieAfter(host, step);
    const life = setUp("a").then(async () => volumes.tearDown("a"));
    await life.catch(() => undefined);
    if (process.isDead) deaths++;
    process.restart();
    if (step % 2 === 0) {
      start();
      await setUp("a");
      expect(mounted()).toHaveLength(1);
    }
    start();
    await volumes.tearDown("a");
    expect(mounted()).toEqual([]);
    expect(await host.files.stat("/kubelet/pods/a/volumes")).toBeUndefined();
  }
  expect(deaths).toBeGreaterThan(8);
  expect(deaths).toBeLessThan(40);
});
