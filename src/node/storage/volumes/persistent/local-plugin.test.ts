import { beforeEach, describe, expect, it } from "vitest";
import type { PersistentVolumeSpec, Pod, PodSecurityContext } from "../../../../api/gen/types.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { createPodVolumes, type PodVolumes } from "../pod-volumes.ts";
import { boundClaim } from "./__fixtures__/claims.ts";
import { dieAfter } from "./__fixtures__/crash.ts";
import { createLocalPlugin } from "./local-plugin.ts";

const DIRECTORY: PersistentVolumeSpec = { local: { path: "/disks/one" } };
const DISK: PersistentVolumeSpec = { local: { path: "/dev/sdb" } };
const BLOCK: PersistentVolumeSpec = { volumeMode: "Block", local: { path: "/dev/sdb" } };
const GLOBAL = "/kubelet/plugins/kubernetes.io/local-volume/mounts/pv-1";
const MAPS = "/kubelet/plugins/kubernetes.io~local-volume/volumeDevices/pv-1";
const mountOf = (uid: string) => `/kubelet/pods/${uid}/volumes/kubernetes.io~local-volume/pv-1`;
const linkOf = (uid: string) => `/kubelet/pods/${uid}/volumeDevices/kubernetes.io~local-volume/pv-1`;

let host: FakeHost;
let volumes: PodVolumes;
let spec: PersistentVolumeSpec;
let readOnly: boolean;
let events: string[];

/** What a new process of the node agent has. */
const start = () => {
  const { files, mounts, clock } = host;
  const plugin = createLocalPlugin(
    {
      files,
      mounts,
      clock,
      tell: (_pod, { reason, message }) => void events.push(`${reason}: ${message}`),
      updateClaimStatus: async (claim) => await Promise.resolve(claim),
    },
    { rootDirectory: "/kubelet", nodeName: "n1" },
  );
  const claims = {
    forget: () => undefined,
    resolve: async () => {
      const persistentVolume = { metadata: { name: "pv-1" }, spec };
      return await Promise.resolve({
        kind: "persistent" as const,
        persistentVolume,
        claim: boundClaim("data", "pv-1"),
        readOnly,
      });
    },
  };
  volumes = createPodVolumes(
    { files, mounts, plugins: [plugin], claims, subPaths: NO_SUB_PATHS },
    { rootDirectory: "/kubelet" },
  );
};

const NO_SUB_PATHS = { cleanUp: async () => undefined };

const podOf = (uid: string, securityContext: PodSecurityContext = {}): Pod => {
  const use = spec.volumeMode === "Block" ? { volumeDevices: [{ name: "data", devicePath: "/dev/x" }] } : {};
  const container = { name: "main", volumeMounts: [{ name: "data", mountPath: "/data" }], ...use };
  return {
    metadata: { namespace: "shop", name: `web-${uid}`, uid },
    spec: {
      containers: [container],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      securityContext,
    },
  };
};
const setUp = async (uid = "a", securityContext: PodSecurityContext = {}, signal?: AbortSignal) => {
  const ready = await volumes.setUp(podOf(uid, securityContext), signal);
  await ready.finished;
  return ready.volumes.get("data");
};
/** Paths of all mounts but the root's. */
const mounted = () => host.mounts.mounted().flatMap(({ path }) => (path === "/" ? [] : [path]));
const exists = async (path: string) => (await host.files.stat(path)) !== undefined;

beforeEach(() => {
  host = createFakeHost();
  host.files.put("/disks/one/file", "kept");
  host.files.putSpecial("/dev/sdb", "block-device");
  host.mounts.putDevice("/dev/sdb", undefined);
  spec = DIRECTORY;
  readOnly = false;
  events = [];
  start();
});

describe("a directory", () => {
  it("is shown in the pod's own, once, and stays when the pod goes", async () => {
    for (let round = 0; round < 2; round++) {
      expect(await setUp()).toEqual({ kind: "files", hostPath: mountOf("a"), readOnly: false, relabel: true });
    }
    expect(host.files.text(`${mountOf("a")}/file`)).toBe("kept");
    expect(mounted()).toEqual([mountOf("a")]);
    await volumes.tearDown("a");
    expect(mounted()).toEqual([]);
    expect(await exists("/kubelet/pods/a/volumes")).toBe(false);
    expect(host.files.text("/disks/one/file")).toBe("kept");
  });

  it("is shared by pods", async () => {
    await Promise.all([setUp("a"), setUp("b")]);
    await volumes.tearDown("a");
    expect(mounted()).toEqual([mountOf("b")]);
  });

  it("is mounted so that nobody writes for a claim that is read-only", async () => {
    readOnly = true;
    expect(await setUp()).toMatchObject({ readOnly: true });
    expect(host.mounts.mounted().find(({ path }) => path === mountOf("a"))?.options).toContain("ro");
  });

  it("is found mounted after a restart", async () => {
    await setUp();
    start();
    await setUp();
    expect(mounted()).toEqual([mountOf("a")]);
  });
});

it.each([
  ["", 'LocalVolume volume "pv-1" path is empty', 'MountVolume.SetUp failed for volume "data"'],
  ["/disks/../etc", "invalid path: /disks/../etc must not contain '..'", 'MountVolume.SetUp failed for volume "data"'],
  ["/none", 'path "/none" does not exist', 'MountVolume.NewMounter initialization failed for volume "pv-1"'],
  [
    "/disks/one/file",
    "only directory and block device are supported",
    'MountVolume.NewMounter initialization failed for volume "pv-1"',
  ],
])("the path '%s' is refused, and leaves nothing", async (path, reason, step) => {
  spec = { local: { path } };
  await expect(setUp()).rejects.toThrow(`${step} : ${reason}`);
  expect(mounted()).toEqual([]);
});

describe("fsGroup", () => {
  const own = (fields: PodSecurityContext = {}) => ({ fsGroup: 1000, ...fields });
  const group = async (path: string) => (await host.files.stat(path))?.group;

  it("gives the volume to the group", async () => {
    await setUp("a", own());
    expect([await group("/disks/one"), await group("/disks/one/file")]).toEqual([1000, 1000]);
    expect((await host.files.stat("/disks/one"))?.mode).toBe(0o2775);
  });

  it("is applied to each pod's volume once, and to files that came later by Always only", async () => {
    await setUp("a", own());
    await volumes.tearDown("a");
    host.files.put("/disks/one/later", "");
    await setUp("b", own({ fsGroupChangePolicy: "OnRootMismatch" }));
    await setUp("b", own());
    expect(await group("/disks/one/later")).toBe(0);
    await volumes.tearDown("b");
    await setUp("c", own());
    expect(await group("/disks/one/later")).toBe(1000);
  });

  it("leaves a volume that another pod uses as it is, and says so", async () => {
    await setUp("a", own());
    await setUp("b", { fsGroup: 2000 });
    await setUp("c", own());
    expect(await group("/disks/one")).toBe(1000);
    expect(events).toEqual([
      "AlreadyMountedVolume: The requested fsGroup is 2000, but the volume pv-1 has GID 1000. " +
        "The volume may not be shareable.",
    ]);
  });

  it("does not concern what is read-only", async () => {
    readOnly = true;
    await setUp("a", own());
    expect(await group("/disks/one")).toBe(0);
  });

  it("is applied in full after it failed", async () => {
    await setUp("a", own());
    await volumes.tearDown("a");
    host.files.put("/disks/one/later", "");
    const repair = host.files.intercept(({ operation }) => {
      if (operation === "changeGroup") throw new Error("I/O error");
    });
    await expect(setUp("b", own())).rejects.toThrow("I/O error");
    repair();
    await setUp("b", own());
    expect(await group("/disks/one/later")).toBe(1000);
  });

  it("that takes long is told to the pod's user", async () => {
    host.files.intercept(async ({ operation, phase }) => {
      if (operation !== "changeGroup" || phase !== "before") return;
      await new Promise<void>((resolve) => host.clock.setTimer(31_000, resolve));
    });
    const done = setUp("a", own());
    await host.clock.advance(29_999);
    expect(events).toEqual([]);
    await host.clock.advance(2_000);
    await done;
    expect(events).toEqual([
      "VolumePermissionChangeInProgress: Setting volume ownership for a/volumes/kubernetes.io~local-volume/pv-1 is " +
        "taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/" +
        "configure-pod-container/security-context/" +
        "#configure-volume-permission-and-ownership-change-policy-for-pods",
    ]);
    expect(host.clock.pendingTimers).toBe(0);
  });
});

describe("a disk with a file system", () => {
  beforeEach(() => {
    spec = DISK;
  });

  it("is mounted once for all pods, until the last is gone", async () => {
    await Promise.all([setUp("a"), setUp("b")]);
    expect(mounted().sort()).toEqual([GLOBAL, mountOf("a"), mountOf("b")]);
    host.files.put(`${mountOf("a")}/file`, "shared");
    expect(host.files.text(`${mountOf("b")}/file`)).toBe("shared");
    await volumes.tearDown("a");
    expect(mounted().sort()).toEqual([GLOBAL, mountOf("b")]);
    start();
    await volumes.tearDown("b");
    expect(mounted()).toEqual([]);
    expect(await exists(GLOBAL)).toBe(false);
  });

  it("is of the type and has the options that the volume names", async () => {
    spec = { local: { path: "/dev/sdb", fsType: "xfs" }, mountOptions: ["noatime"] };
    await setUp();
    expect(host.mounts.mounted().find(({ path }) => path === GLOBAL)).toMatchObject({
      type: "xfs",
      source: "/dev/sdb",
      options: ["rw", "noatime"],
    });
  });

  it("that holds another file system is refused with the step that failed", async () => {
    host.mounts.putDevice("/dev/sdb", "btrfs");
    await expect(setUp()).rejects.toThrow(
      'MountVolume.MountDevice failed for volume "pv-1" : ' +
        `local: failed to mount device /dev/sdb at ${GLOBAL} (fstype: ext4), error EINVAL`,
    );
    await volumes.tearDown("a");
    expect(await exists(GLOBAL)).toBe(false);
  });

  it("is not unmounted under a pod that is about to mount it", async () => {
    await setUp("a");
    let goOn = () => {};
    const passed = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const release = host.mounts.intercept(async ({ operation, phase }) => {
      if (operation === "bind" && phase === "before") await passed;
    });
    const second = setUp("b");
    await host.clock.settle();
    const gone = volumes.tearDown("a");
    await host.clock.settle();
    goOn();
    await Promise.all([second, gone]);
    release();
    expect(mounted().sort()).toEqual([GLOBAL, mountOf("b")]);
  });

  it("stays mounted while the pod's directory cannot be unmounted", async () => {
    await setUp();
    const release = host.mounts.hold(mountOf("a"));
    await expect(volumes.tearDown("a")).rejects.toThrow("EBUSY");
    expect(mounted().sort()).toEqual([GLOBAL, mountOf("a")]);
    release();
    await volumes.tearDown("a");
    expect(mounted()).toEqual([]);
  });
});

describe("a block device", () => {
  beforeEach(() => {
    spec = BLOCK;
  });

  it("is mapped, and linked where the runtime finds it", async () => {
    for (let round = 0; round < 2; round++) {
      expect(await setUp()).toEqual({ kind: "device", hostPath: linkOf("a"), readOnly: false });
    }
    expect(await host.files.readLink(linkOf("a"))).toBe("/dev/sdb");
    expect(mounted()).toEqual([`${MAPS}/a`]);
    expect(await host.files.stat(`${MAPS}/a`)).toMatchObject({ type: "block-device" });
  });

  it("goes with the last pod that uses it", async () => {
    await Promise.all([setUp("a"), setUp("b")]);
    start();
    await volumes.tearDown("a");
    expect(mounted()).toEqual([`${MAPS}/b`]);
    await volumes.tearDown("b");
    expect(mounted()).toEqual([]);
    expect(await exists(MAPS)).toBe(false);
    expect(await exists("/kubelet/pods/b/volumeDevices")).toBe(false);
    expect(await host.files.stat("/dev/sdb")).toMatchObject({ type: "block-device" });
  });

  it.each([
    ["/none", 'path "/none" does not exist'],
    ["/disks/one", 'path "/disks/one" is not a block device'],
  ])("at %s is refused", async (path, reason) => {
    spec = { volumeMode: "Block", local: { path } };
    await expect(setUp()).rejects.toMatchObject({
      complaints: [
        { reason: "FailedMapVolume", message: `MapVolume.MapBlockVolume failed for volume "pv-1" : ${reason}` },
      ],
    });
  });
});

describe("ReadWriteOncePod", () => {
  it.each<[string, PersistentVolumeSpec, string]>([
    ["a directory", DIRECTORY, "MountVolume.SetUp"],
    ["a disk", DISK, "MountVolume.SetUp"],
    ["a device", BLOCK, "MapVolume.SetUpDevice"],
  ])("%s waits for the pod that has it, also over a restart", async (_what, kind, step) => {
    spec = { ...kind, accessModes: ["ReadWriteOncePod"] };
    await setUp("a");
    start();
    await expect(setUp("b")).rejects.toMatchObject({
      message:
        `${step} failed for volume "pv-1" : ` +
        "volume uses the ReadWriteOncePod access mode and is already in use by another pod",
      retryAfterMs: 2_000,
    });
    await setUp("a");
    await volumes.tearDown("a");
    await setUp("b");
  });

  it("with other modes beside it does not say which the pod meant", async () => {
    spec = { ...DIRECTORY, accessModes: ["ReadWriteOncePod", "ReadWriteMany"] };
    await setUp("a");
    await setUp("b");
  });
});

describe.each<[string, PersistentVolumeSpec]>([
  ["a directory", DIRECTORY],
  ["a disk", DISK],
  ["a device", BLOCK],
])("a process that dies at any step with %s", (_what, kind) => {
  const steps = Array.from({ length: 80 }, (_, step) => step + 1);

  it("leaves what the next one sets up in full, and takes down without a rest", async () => {
    let deaths = 0;
    for (const step of steps) {
      host = createFakeHost();
      host.files.put("/disks/one/file", "kept");
      host.files.putSpecial("/dev/sdb", "block-device");
      host.mounts.putDevice("/dev/sdb", undefined);
      spec = kind;
      start();
      const process = dieAfter(host, step);
      const outcome = setUp("a", { fsGroup: 1000 }).then(async () => volumes.tearDown("a"));
      await outcome.catch(() => undefined);
      if (process.isDead) deaths++;
      process.restart();
      if (step % 2 === 0) {
        start();
        expect(await setUp("a", { fsGroup: 1000 })).toBeDefined();
      }
      start();
      await volumes.tearDown("a");
      expect(mounted()).toEqual([]);
      for (const left of [GLOBAL, MAPS, mountOf("a"), linkOf("a")]) expect(await exists(left), `${step}`).toBe(false);
      expect(host.files.text("/disks/one/file")).toBe("kept");
    }
    // The steps go past the end of a whole life, so that none of them was left out.
    expect(deaths).toBeGreaterThan(15);
    expect(deaths).toBeLessThan(steps.length);
  });
});
