import { beforeEach, describe, expect, it } from "vitest";
import type { PersistentVolumeClaimStatus, PersistentVolumeSpec, Pod } from "../../../../api/gen/types.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { volumeDirectories } from "../volume-directories.ts";
import type { VolumePlugin } from "../volume-plugin.ts";
import { boundClaim } from "./__fixtures__/claims.ts";
import { createLocalPlugin } from "./local-plugin.ts";

const GLOBAL = "/kubelet/plugins/kubernetes.io/local-volume/mounts/pv-1";
const PENDING = { allocatedResourceStatuses: { storage: "NodeResizePending" } };

let host: FakeHost;
let plugin: VolumePlugin;
let events: string[];
let statuses: PersistentVolumeClaimStatus[];
/** What was grown, and how the next attempts end. */
let grown: string[];
let failure: Error | undefined;

beforeEach(() => {
  host = createFakeHost();
  const { files, mounts, clock } = host;
  files.putSpecial("/dev/sdb", "block-device");
  files.put("/disks/one/file", "kept");
  mounts.putDevice("/dev/sdb", undefined);
  events = [];
  statuses = [];
  grown = [];
  failure = undefined;
  mounts.intercept(({ operation, path, source, phase }) => {
    if (operation !== "growFileSystem" || phase !== "before") return;
    if (failure) throw failure;
    grown.push(`${source} at ${path}`);
  });
  plugin = createLocalPlugin(
    {
      files,
      mounts,
      clock,
      tell: (_pod, { type, reason, message }) => void events.push(`${type} ${reason}: ${message}`),
      async updateClaimStatus(claim, status) {
        statuses.push(status);
        return await Promise.resolve({ ...claim, status });
      },
    },
    { rootDirectory: "/kubelet", nodeName: "n1" },
  );
});

interface Sizes {
  readonly volume: string;
  readonly claim?: string;
  readonly spec?: PersistentVolumeSpec;
  readonly readOnly?: boolean;
  readonly uid?: string;
}

async function setUp({ volume, claim = "1Gi", spec, readOnly = false, uid = "a" }: Sizes) {
  const local = { path: "/dev/sdb" };
  const persistentVolume = { metadata: { name: "pv-1" }, spec: { local, ...spec, capacity: { storage: volume } } };
  const status = { phase: "Bound", capacity: { storage: claim }, ...(volume !== claim && PENDING) };
  const source = {
    kind: "persistent" as const,
    persistentVolume,
    claim: { ...boundClaim("data", "pv-1"), status },
    readOnly,
  };
  const pod: Pod = { metadata: { namespace: "shop", name: "web", uid }, spec: { containers: [{ name: "main" }] } };
  const directories = volumeDirectories("/kubelet", uid);
  const { signal } = new AbortController();
  const request = {
    pod,
    volumeName: "data",
    source,
    directories,
    signal,
  };
  await (await plugin.setUp(request)).finished;
}

const succeeded = 'Normal FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv-1" n1';

describe("a local disk whose volume is larger than its claim", () => {
  it("grows when it is mounted, and the claim is told; only once, and not for the next pod", async () => {
    await setUp({ volume: "2Gi" });
    expect(grown).toEqual([`/dev/sdb at ${GLOBAL}`]);
    expect(events).toEqual([succeeded]);
    expect(statuses.map(({ capacity, allocatedResourceStatuses }) => [capacity, allocatedResourceStatuses])).toEqual([
      [{ storage: "1Gi" }, { storage: "NodeResizeInProgress" }],
      [{ storage: "2Gi" }, undefined],
    ]);
    await setUp({ volume: "2Gi" });
    await setUp({ volume: "2Gi", uid: "b" });
    expect(grown).toHaveLength(1);
  });

  it("grows while a pod runs", async () => {
    await setUp({ volume: "1Gi" });
    expect([grown, events, statuses]).toEqual([[], [], []]);
    await setUp({ volume: "3Gi" });
    expect([grown.length, events]).toEqual([1, [succeeded]]);
  });

  it("keeps the first pod waiting while it cannot grow", async () => {
    failure = new Error("resize2fs ended with 1");
    const message =
      'MountVolume.Setup failed while expanding volume for volume "pv-1" : ' +
      "Expander.NodeExpand failed to expand the volume : resize2fs ended with 1";
    await expect(setUp({ volume: "2Gi" })).rejects.toThrow(message);
    expect(statuses.at(-1)?.conditions).toMatchObject([{ type: "NodeResizeError", status: "True" }]);
    failure = undefined;
    await setUp({ volume: "2Gi" });
    expect(grown).toHaveLength(1);
  });

  it("leaves a running pod its disk while it cannot grow, and tries again after a while", async () => {
    await setUp({ volume: "1Gi" });
    failure = new Error("no luck");
    for (let round = 0; round < 3; round++) await setUp({ volume: "2Gi" });
    expect(events).toEqual([
      'Warning VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv-1" : ' +
        "Expander.NodeExpand failed to expand the volume : no luck",
    ]);
    failure = undefined;
    await host.clock.advance(500);
    await setUp({ volume: "2Gi" });
    expect(grown).toHaveLength(1);
  });

  it("stays as it is where it is read-only", async () => {
    await setUp({ volume: "1Gi", uid: "b" });
    await setUp({ volume: "2Gi", readOnly: true });
    expect(grown).toEqual([]);
    expect(events).toEqual([
      'Warning FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv-1" requested read-only file system',
    ]);
  });

  it("is looked at anew once no pod has it any more", async () => {
    await setUp({ volume: "4Gi" });
    const path = volumeDirectories("/kubelet", "a").of(plugin.name, "pv-1");
    await plugin.tearDown?.({ podUid: "a", directoryName: "pv-1", path, kind: "files" });
    await setUp({ volume: "2Gi" });
    expect(grown).toHaveLength(2);
  });
});

it.each([
  { what: "directory", spec: { local: { path: "/disks/one" } } },
  { what: "device", spec: { volumeMode: "Block" } },
])("the claim of a $what that has grown is told so, and nothing is run", async ({ spec }) => {
  await setUp({ volume: "2Gi", spec });
  expect(grown).toEqual([]);
  expect(statuses.at(-1)?.capacity).toEqual({ storage: "2Gi" });
});
