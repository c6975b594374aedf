import { beforeEach, describe, expect, it } from "vitest";
import type { ISCSIVolumeSource, PersistentVolumeSpec, Pod } from "../../../../api/gen/types.ts";
import { silentLog } from "../../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { boundClaim } from "../persistent/__fixtures__/claims.ts";
import { dieAfter } from "../persistent/__fixtures__/crash.ts";
import { createPodVolumes, type PodVolumes } from "../pod-volumes.ts";
import { createFakeOpenIscsi, type FakeOpenIscsi } from "./__fixtures__/fake-open-iscsi.ts";
import { createFakeScsi, type FakeScsi } from "./__fixtures__/fake-scsi.ts";
import { createDiskPlugin, type DiskCluster, type DiskPlugin } from "./disk-plugin.ts";
import { createIscsiKind } from "./iscsi/iscsi-kind.ts";

const IQN = "iqn.2026-11.com.example:disk";
const DISK: ISCSIVolumeSource = { targetPortal: "10.0.0.1", iqn: IQN, lun: 1 };
const PLACE = `/kubelet/plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-${IQN}-lun-1`;
const mountOf = (uid: string) => `/kubelet/pods/${uid}/volumes/kubernetes.io~iscsi/data`;
const SESSION = `${IQN} at 10.0.0.1:3260 by default`;

let host: FakeHost;
let scsi: FakeScsi;
let iscsi: FakeOpenIscsi;
let plugin: DiskPlugin;
let volumes: PodVolumes;
let source: ISCSIVolumeSource;
let persistent: PersistentVolumeSpec | undefined;
let cluster: DiskCluster | undefined;
let secrets: Record<string, string>;
let warnings: string[];
let end: AbortController;
let running: Promise<void> | undefined;

const start = () => {
  const { files, mounts, clock, programs } = host;
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const secret = async () => {
    const data = Object.entries(secrets).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    return await Promise.resolve({ data: Object.fromEntries(data) });
  };
  const deps = { files, mounts, clock, programs, log, secret, cluster, tell: () => undefined };
  const options = { rootDirectory: "/kubelet", enableControllerAttachDetach: true };
  plugin = createDiskPlugin({ ...deps, kind: createIscsiKind(deps) }, options);
  const claims = {
    resolve: async () => {
      const persistentVolume = { metadata: { name: "data" }, spec: { iscsi: source, ...persistent } };
      const claim = boundClaim("data", "data");
      return await Promise.resolve({ kind: "persistent" as const, persistentVolume, claim, readOnly: false });
    },
  };
  const subPaths = { cleanUp: async () => undefined };
  volumes = createPodVolumes({ files, mounts, plugins: [plugin], claims, subPaths }, { rootDirectory: "/kubelet" });
};

/** Lets the sweep take away what nobody uses; it ends with the process. */
const sweep = async (ms = 0) => {
  end = new AbortController();
  running = plugin.run(end.signal);
  await host.clock.advance(ms);
  end.abort();
  await running;
};

const podOf = (uid: string, group?: number): Pod => {
  const isBlock = persistent?.volumeMode === "Block";
  const use = isBlock
    ? { volumeDevices: [{ name: "data", devicePath: "/dev/data" }] }
    : { volumeMounts: [{ name: "data", mountPath: "/data" }] };
  const volume = persistent ? { persistentVolumeClaim: { claimName: "data" } } : { iscsi: source };
  return {
    metadata: { namespace: "shop", name: uid, uid },
    spec: {
      containers: [{ name: "main", ...use }],
      volumes: [{ name: "data", ...volume }],
      ...(group !== undefined && { securityContext: { fsGroup: group } }),
    },
  };
};
const setUp = async (uid = "a", group?: number) => {
  const ready = await volumes.setUp(podOf(uid, group));
  await ready.finished;
  return ready.volumes.get("data");
};
/** A set-up whose waits pass at once. */
const setUpLate = async (uid = "a") => {
  const outcome = setUp(uid).then(
    () => "ready",
    (error: unknown) => String(error),
  );
  await host.clock.advance(600_000);
  return await outcome;
};
const mounted = () =>
  host.mounts.mounted().flatMap(({ path, source: from }) => (path === "/" ? [] : [`${from} at ${path}`]));

beforeEach(() => {
  host = createFakeHost();
  scsi = createFakeScsi(host);
  iscsi = createFakeOpenIscsi(host, scsi, [
    { iqn: IQN, lun: 1, portals: { "10.0.0.1:3260": "sdb", "10.0.0.2:3260": "sdc", "[fd00::1]:3260": "sdd" } },
    { iqn: IQN, lun: 9, portals: { "10.0.0.1:3260": "sdi" } },
    { iqn: `${IQN}s`, lun: 1, portals: { "10.0.0.1:3260": "sdx" }, password: "open sesame" },
  ]);
  source = DISK;
  persistent = undefined;
  cluster = undefined;
  secrets = {};
  warnings = [];
  start();
});

describe("a disk of a target", () => {
  it("is formatted, mounted once, and shown to each pod; the last one takes it away", async () => {
    expect(await setUp("a")).toEqual({ kind: "files", hostPath: mountOf("a"), readOnly: false, relabel: true });
    await setUp("b");
    expect(mounted()).toEqual([`/dev/sdb at ${PLACE}`, `/dev/sdb at ${mountOf("a")}`, `/dev/sdb at ${mountOf("b")}`]);
    expect(host.mounts.mounted().find(({ path }) => path === PLACE)).toMatchObject({ type: "ext4" });
    host.files.put(`${mountOf("a")}/file`, "kept");
    await volumes.tearDown("a");
    await sweep();
    expect(iscsi.sessions()).toEqual([SESSION]);
    expect(host.files.text(`${mountOf("b")}/file`)).toBe("kept");
    await volumes.tearDown("b");
    await sweep();
    expect({ mounted: mounted(), sessions: iscsi.sessions(), disks: [...scsi.seen] }).toEqual({
      mounted: [],
      sessions: [],
      disks: [],
    });
    expect(await host.files.stat(PLACE)).toBeUndefined();
    expect(plugin.volumesInUse()).toEqual([]);
  });

  it("has its record beneath the mount, in the form of upstream's", async () => {
    host.mounts.intercept(({ operation }) => {
      if (operation === "formatAndMount") throw new Error("wrong fs type");
    });
    await expect(setUp()).rejects.toThrow('MountVolume.MountDevice failed for volume "data" : wrong fs type');
    expect(host.files.text(`${PLACE}/iscsi.json`)).toBe(
      `{"VolName":"data","Portals":["10.0.0.1:3260"],"Iqn":"${IQN}","Lun":"1","InitIface":"default",` +
        `"Iface":"default","InitiatorName":"","MetricsProvider":null}\n`,
    );
    await volumes.tearDown("a");
    await sweep();
    expect(iscsi.sessions()).toEqual([]);
  });

  it("is read-only, of the file system and with the options that are asked for", async () => {
    host.mounts.intercept(({ operation, source: from = "" }) => {
      if (operation === "formatAndMount") host.mounts.putDevice(from, "xfs");
    });
    source = { ...DISK, fsType: "xfs", readOnly: true };
    expect(await setUp()).toMatchObject({ readOnly: true });
    expect(host.mounts.mounted().filter(({ path }) => path !== "/")).toMatchObject([
      { path: PLACE, type: "xfs", options: ["ro"] },
      { path: mountOf("a"), options: expect.arrayContaining(["ro"]) },
    ]);
  });

  it("is given to the pod's group", async () => {
    await setUp("a", 2000);
    expect(await host.files.stat(mountOf("a"))).toMatchObject({ group: 2000 });
  });

  it("shares its session with another disk of the target, and the last one ends it", async () => {
    await setUp("a");
    source = { ...DISK, lun: 9 };
    await setUp("b");
    start();
    await volumes.tearDown("a");
    await sweep();
    expect({ sessions: iscsi.sessions(), disks: [...scsi.seen] }).toEqual({ sessions: [SESSION], disks: ["sdi"] });
    await volumes.tearDown("b");
    await sweep();
    expect({ sessions: iscsi.sessions(), disks: [...scsi.seen] }).toEqual({ sessions: [], disks: [] });
  });

  it("ends the session where several disks go together", async () => {
    await setUp("a");
    source = { ...DISK, lun: 9 };
    await setUp("b");
    for (const uid of ["a", "b"]) await volumes.tearDown(uid);
    await sweep();
    expect(iscsi.sessions()).toEqual([]);
  });

  it("is found by an IPv6 address", async () => {
    source = { ...DISK, targetPortal: "[fd00::1]:3260" };
    await setUp();
    expect(mounted()[0]).toContain("/dev/sdd at ");
  });

  it.each(["../../etc", "a/b"])("cannot lead out of its place by an interface called %s", async (iscsiInterface) => {
    source = { ...DISK, iscsiInterface };
    await expect(setUp()).rejects.toThrow("cannot be the name of a directory");
  });
});

describe("several portals", () => {
  beforeEach(() => {
    source = { ...DISK, portals: ["10.0.0.2"] };
  });

  it("are paths of one disk, which is mounted by device mapper and flushed at its end", async () => {
    scsi.addMultipath("dm-0", ["sdb", "sdc"]);
    expect(await setUpLate()).toBe("ready");
    expect(mounted()[0]).toBe(`/dev/dm-0 at ${PLACE}`);
    expect(iscsi.sessions()).toHaveLength(2);
    await volumes.tearDown("a");
    await sweep();
    expect(iscsi.sessions()).toEqual([]);
    expect(host.programs.runs.map(({ path, args }) => [path, ...args].join(" "))).toContain("multipath -f /dev/dm-0");
  });

  it("need not all be there", async () => {
    iscsi.silent.add("10.0.0.2:3260");
    expect(await setUpLate()).toBe("ready");
    expect(iscsi.sessions()).toEqual([SESSION]);
  });

  it("are no disk when none is there", async () => {
    for (const portal of ["10.0.0.1:3260", "10.0.0.2:3260"]) iscsi.silent.add(portal);
    expect(await setUpLate()).toMatch(
      /MountVolume.WaitForAttach failed for volume "data" : failed to get any path for iscsi disk, last err seen:\niscsi: failed to sendtargets to portal 10.0.0.2:3260 output: iscsiadm: cannot make connection to 10.0.0.2:3260/,
    );
  });

  it("do not mistake a volume group on the disk for multipath", async () => {
    scsi.addMultipath("dm-0", ["sdb"]);
    host.files.put("/sys/block/dm-0/dm/uuid", "LVM-0123\n");
    expect(await setUpLate()).toBe("ready");
    expect(mounted()[0]).toBe(`/dev/sdb at ${PLACE}`);
  });
});

describe("an initiator", () => {
  it("gets an interface of its own, like the one that is named, and takes it along", async () => {
    source = { ...DISK, initiatorName: "iqn.2026-11.com.example:me" };
    await setUp();
    expect([...(iscsi.interfaces.get("10.0.0.1:3260:data") ?? [])].sort()).toEqual([
      ["iface.initiatorname", "iqn.2026-11.com.example:me"],
      ["iface.transport_name", "tcp"],
    ]);
    expect(iscsi.sessions()).toEqual([`${IQN} at 10.0.0.1:3260 by 10.0.0.1:3260:data`]);
    start();
    await volumes.tearDown("a");
    await sweep();
    expect({ sessions: iscsi.sessions(), interfaces: [...iscsi.interfaces.keys()] }).toEqual({
      sessions: [],
      interfaces: ["default"],
    });
  });

  it("is taken away also where its interface is gone", async () => {
    source = { ...DISK, initiatorName: "iqn.2026-11.com.example:me" };
    await setUp();
    iscsi.interfaces.delete("10.0.0.1:3260:data");
    await volumes.tearDown("a");
    await sweep();
    expect(plugin.volumesInUse()).toEqual([]);
  });

  it("proves itself with what the secret says, and not without", async () => {
    source = { ...DISK, iqn: `${IQN}s`, chapAuthSession: true, secretRef: { name: "chap" } };
    expect(await setUpLate()).toContain("authorization failure");
    secrets = { "node.session.auth.username": "me", "node.session.auth.password": "open sesame" };
    await setUp();
    expect(iscsi.sessions()).toHaveLength(1);
  });
});

describe("a block volume", () => {
  const BLOCK = PLACE.replace("iscsi/iface", "iscsi/volumeDevices/iface");
  beforeEach(() => {
    persistent = { volumeMode: "Block", accessModes: ["ReadWriteOnce"] };
  });

  it("is mapped for the pod, also after a restart, and is taken away with it", async () => {
    const link = "/kubelet/pods/a/volumeDevices/kubernetes.io~iscsi/data";
    expect(await setUp()).toEqual({ kind: "device", hostPath: link, readOnly: false });
    expect(await host.files.readLink(link)).toBe("/dev/sdb");
    expect(host.files.text(`${BLOCK}/iscsi.json`)).toContain(`"Lun":"1"`);
    start();
    await sweep();
    expect(iscsi.sessions()).toEqual([SESSION]);
    await volumes.tearDown("a");
    await sweep();
    expect({ mounted: mounted(), sessions: iscsi.sessions() }).toEqual({ mounted: [], sessions: [] });
    expect(await host.files.stat(BLOCK)).toBeUndefined();
  });

  it("loses the loop device that a Go kubelet has put over it", async () => {
    await setUp();
    host.files.put("/sys/block/loop0/loop/backing_file", `${BLOCK}/a\n`);
    host.programs.install("losetup", () => ({}));
    await volumes.tearDown("a");
    expect(host.programs.runs.at(-1)).toMatchObject({ path: "losetup", args: ["-d", "/dev/loop0"] });
  });

  it("of one pod is refused to a second one", async () => {
    persistent = { ...persistent, accessModes: ["ReadWriteOncePod"] };
    await setUp("a");
    await expect(setUp("b")).rejects.toThrow("already in use by another pod");
  });
});

describe("the node's account", () => {
  it("is told before anything is done, and waits for the controller's", async () => {
    const reported: string[][] = [];
    let attached: string[] | undefined;
    cluster = {
      reportInUse: async (names) => void reported.push([...names]),
      volumesAttached: async () => await Promise.resolve(attached),
    };
    start();
    await expect(setUp()).rejects.toThrow('Volume not attached according to node status for volume "data"');
    expect(reported).toEqual([[`kubernetes.io/iscsi/10.0.0.1:${IQN}:1`]]);
    expect(plugin.volumesInUse()).toEqual([`kubernetes.io/iscsi/10.0.0.1:${IQN}:1`]);
    expect(iscsi.sessions()).toEqual([]);
    attached = [`kubernetes.io/iscsi/10.0.0.1:${IQN}:1`];
    await setUp();
    expect(iscsi.sessions()).toEqual([SESSION]);
  });

  it("ends with a pod that never got the disk", async () => {
    cluster = { reportInUse: async () => undefined, volumesAttached: async () => await Promise.resolve(undefined) };
    start();
    await expect(setUp()).rejects.toThrow("Volume not attached");
    await volumes.tearDown("a");
    await sweep();
    expect(plugin.volumesInUse()).toEqual([]);
  });

  it("has what an earlier node agent left, with the port and without", async () => {
    await setUp();
    start();
    await plugin.load();
    expect(plugin.volumesInUse()).toEqual([
      `kubernetes.io/iscsi/10.0.0.1:3260:${IQN}:1`,
      `kubernetes.io/iscsi/10.0.0.1:${IQN}:1`,
    ]);
  });
});

describe("a node agent that dies", () => {
  it("at any step of a set-up or tear-down leaves nothing that the next one does not take away", async () => {
    for (let step = 1; step < 200; step++) {
      const death = dieAfter(host, step);
      const outcome = await setUp()
        .then(async () => {
          await volumes.tearDown("a");
          await sweep();
          return "ended";
        })
        .catch(() => "died");
      const { isDead } = death;
      death.restart();
      start();
      await volumes.tearDown("a");
      await sweep(600_000);
      const left = { step, mounted: mounted(), sessions: iscsi.sessions(), places: await host.files.stat(PLACE) };
      expect(left).toEqual({ step, mounted: [], sessions: [], places: undefined });
      if (!isDead && outcome === "ended") return;
    }
    expect.fail("it never came to its end");
  });

  it("finds the disk in use by the mounts alone", async () => {
    await setUp();
    start();
    await sweep();
    expect(mounted()).toHaveLength(2);
  });

  it("leaves a disk alone that somebody else has mounted", async () => {
    await setUp();
    host.files.put("/mnt/.keep", "");
    await host.mounts.bind(PLACE, "/mnt");
    await volumes.tearDown("a");
    await sweep(1_000);
    expect(warnings[0]).toContain("cannot be taken away");
    expect([...scsi.seen]).toEqual(["sdb"]);
  });
});

it("says which program is missing, and how to get it", async () => {
  host.programs.install("iscsiadm", undefined);
  expect(await setUpLate()).toContain("the program iscsiadm is missing on this node: install open-iscsi on Debian");
});
