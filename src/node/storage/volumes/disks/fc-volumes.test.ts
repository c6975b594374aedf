import { beforeEach, describe, expect, it } from "vitest";
import type { FCVolumeSource, Pod } from "../../../../api/gen/types.ts";
import { silentLog } from "../../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { createPodVolumes, type PodVolumes } from "../pod-volumes.ts";
import { createFakeScsi, type FakeScsi } from "./__fixtures__/fake-scsi.ts";
import { createDiskPlugin, type DiskPlugin } from "./disk-plugin.ts";
import { createFcKind } from "./fc/fc-kind.ts";

const [ONE, OTHER] = ["50060e801049cfd1", "50060e801049cfd2"];
const WWID = "3600508b400105e210000900000490000";
const ROOT = "/kubelet/plugins/kubernetes.io/fc";

let host: FakeHost;
let scsi: FakeScsi;
let plugin: DiskPlugin;
let volumes: PodVolumes;
let fc: FCVolumeSource;
let warnings: string[];

const start = () => {
  const { files, mounts, clock, programs } = host;
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const deps = { files, mounts, clock, programs, log, cluster: undefined, tell: () => undefined };
  const options = { rootDirectory: "/kubelet", enableControllerAttachDetach: false };
  plugin = createDiskPlugin({ ...deps, kind: createFcKind(deps) }, options);
  const subPaths = { cleanUp: async () => undefined };
  volumes = createPodVolumes({ files, mounts, plugins: [plugin], claims: undefined, subPaths }, options);
};
const setUp = async () => {
  const pod: Pod = {
    metadata: { namespace: "shop", name: "a", uid: "a" },
    spec: {
      containers: [{ name: "main", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      volumes: [{ name: "data", fc }],
    },
  };
  const ready = await volumes.setUp(pod);
  await ready.finished;
};
const takeAway = async () => {
  await volumes.tearDown("a");
  const end = new AbortController();
  const running = plugin.run(end.signal);
  await host.clock.advance(0);
  end.abort();
  await running;
};
const mounted = () =>
  host.mounts.mounted().flatMap(({ path, source }) => (path === "/" ? [] : [`${source} at ${path}`]));
const programs = () => host.programs.runs.map(({ path, args }) => [path, ...args].join(" "));

beforeEach(() => {
  host = createFakeHost();
  scsi = createFakeScsi(host);
  scsi.addHost([
    { name: "sdb", lun: 2, links: [`by-path/pci-0000:00:01.0-fc-0x${ONE}-lun-2`, `by-id/scsi-${WWID}`] },
    { name: "sdx", lun: 22, links: [`by-path/pci-0000:00:01.0-fc-0x${ONE}-lun-22`] },
  ]);
  scsi.addHost([{ name: "sdc", lun: 2, links: [`by-path/fc-0x${OTHER}-lun-2`] }]);
  fc = { targetWWNs: [ONE], lun: 2 };
  warnings = [];
  start();
});

describe("a disk of Fibre Channel", () => {
  it("is looked for on all buses, mounted, and flushed and removed with its last pod", async () => {
    await setUp();
    expect(mounted()).toEqual([
      `/dev/sdb at ${ROOT}/${ONE}-lun-2`,
      "/dev/sdb at /kubelet/pods/a/volumes/kubernetes.io~fc/data",
    ]);
    expect(plugin.volumesInUse()).toEqual([`kubernetes.io/fc/[${ONE}]:2`]);
    expect(plugin.volumesAttached()).toEqual([{ name: `kubernetes.io/fc/[${ONE}]:2`, devicePath: "" }]);
    start();
    await takeAway();
    expect(mounted()).toEqual([]);
    expect(programs()).toEqual(["blockdev --flushbufs /dev/sdb"]);
    expect(scsi.seen.has("sdb")).toBe(false);
    expect(await host.files.list(ROOT)).toEqual([]);
  });

  it("is found by its identifier, in which white space is an underscore", async () => {
    host.files.putLink("../../sdb", "/dev/disk/by-id/scsi-VENDOR_1");
    host.files.putSpecial("/dev/sdb", "block-device");
    host.mounts.putDevice("/dev/sdb", undefined);
    fc = { wwids: ["VENDOR 1"] };
    await setUp();
    expect(mounted()[0]).toBe(`/dev/sdb at ${ROOT}/VENDOR_1`);
  });

  it("is that of device mapper where several paths lead to it, and all of them go", async () => {
    fc = { targetWWNs: [ONE, OTHER], lun: 2 };
    scsi.addMultipath("dm-0", ["sdb", "sdc"]);
    await setUp();
    expect(mounted()[0]).toBe(`/dev/dm-0 at ${ROOT}/${ONE}-${OTHER}-lun-2`);
    await takeAway();
    expect(programs()).toEqual([
      "multipath -f /dev/dm-0",
      "blockdev --flushbufs /dev/sdb",
      "blockdev --flushbufs /dev/sdc",
    ]);
    expect([...scsi.seen]).toEqual(["sdx"]);
  });

  it("stays while device mapper does not let go", async () => {
    fc = { targetWWNs: [ONE, OTHER], lun: 2 };
    scsi.addMultipath("dm-0", ["sdb", "sdc"]);
    await setUp();
    host.programs.install("multipath", () => ({ exitCode: 1, stderr: "dm-0: map in use" }));
    await takeAway();
    expect(warnings).toEqual([expect.stringContaining("cannot be taken away; it is tried again")]);
    expect(scsi.seen.has("sdb")).toBe(true);
    expect(plugin.volumesInUse()).toHaveLength(1);
  });

  it.each<[FCVolumeSource, string]>([
    [{ targetWWNs: ["0000000000000000"], lun: 0 }, "no fc disk found"],
    [{ targetWWNs: [ONE ?? ""] }, "fc: no fc disk information found"],
    [{ wwids: ["../../../etc"] }, "cannot be the name of a directory"],
  ])("%j: %s", async (source, problem) => {
    fc = source;
    await expect(setUp()).rejects.toThrow(problem);
  });
});
