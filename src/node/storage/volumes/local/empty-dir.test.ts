import { beforeEach, describe, expect, it } from "vitest";
import type { EmptyDirVolumeSource, PodSpec } from "../../../../api/gen/types.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import { volumeDirectories } from "../volume-directories.ts";
import { createVolumeDirectoryMaker } from "../volume-directory-maker.ts";
import type { VolumePlugin } from "../volume-plugin.ts";
import { createEmptyDirPlugin } from "./empty-dir.ts";

const PATH = "/kubelet/pods/uid-1/volumes/kubernetes.io~empty-dir/data";
const MI = 1024n ** 2n;

let host: FakeHost;
let plugin: VolumePlugin;

beforeEach(() => {
  host = createFakeHost();
  host.machine.facts.hugepages = [{ pageSizeBytes: 2n * MI, pages: 8n }];
  const directoryMaker = createVolumeDirectoryMaker(host);
  plugin = createEmptyDirPlugin({ directoryMaker, allocatable: () => ({ memory: "64Mi" }) });
});

const setUp = async (emptyDir: EmptyDirVolumeSource, spec: Partial<PodSpec> = {}) =>
  await plugin.setUp({
    pod: { metadata: { uid: "uid-1" }, spec: { containers: [{ name: "main" }], ...spec } },
    volumeName: "data",
    source: { kind: "pod", volume: { name: "data", emptyDir } },
    directories: volumeDirectories("/kubelet", "uid-1"),
    signal: new AbortController().signal,
  });
const mounted = () => host.mounts.mounted().find(({ path }) => path === PATH);

it("is a directory on the disk", async () => {
  expect((await setUp({})).volume).toEqual({ kind: "files", hostPath: PATH, readOnly: false, relabel: true });
  expect(mounted()).toBeUndefined();
});

describe("in memory", () => {
  it.each<[string, EmptyDirVolumeSource, Partial<PodSpec>, string]>([
    ["what the volume may", { sizeLimit: "1Mi" }, {}, "size=1024k"],
    ["no more than the node has for pods", { sizeLimit: "1Gi" }, {}, "size=65536k"],
    [
      "no more than the pod may",
      {},
      { containers: [{ name: "main", resources: { limits: { memory: "32Mi" } } }] },
      "size=32768k",
    ],
  ])("holds %s", async (_case, fields, spec, option) => {
    await setUp({ medium: "Memory", ...fields }, spec);
    expect(mounted()).toMatchObject({ type: "tmpfs", options: ["rw", option] });
  });
});

describe("on huge pages", () => {
  const containers = [{ name: "main", resources: { requests: { "hugepages-2Mi": "4Mi" } } }];

  it.each(["HugePages", "HugePages-2Mi"])("of medium %s is mounted once", async (medium) => {
    for (let round = 0; round < 2; round++) await setUp({ medium }, { containers });
    expect(mounted()).toMatchObject({ type: "hugetlbfs", options: ["rw", "pagesize=2M"] });
    expect(host.mounts.mounted().filter(({ path }) => path === PATH)).toHaveLength(1);
    await plugin.tearDown?.({ podUid: "uid-1", directoryName: "data", path: PATH, kind: "files" });
    expect(await host.files.stat(PATH)).toBeUndefined();
  });

  it("of a size that the machine has not is refused by the kernel", async () => {
    const requests = { "hugepages-1Gi": "1Gi" };
    await expect(
      setUp({ medium: "HugePages" }, { containers: [{ name: "main", resources: { requests } }] }),
    ).rejects.toThrow("EINVAL");
  });

  it("that the pod has not asked for is refused before anything is made", async () => {
    await expect(setUp({ medium: "HugePages" })).rejects.toThrow("there is no resource request for huge pages");
    expect(await host.files.stat(PATH)).toBeUndefined();
  });
});

it("on another medium is refused", async () => {
  await expect(setUp({ medium: "Floppy" })).rejects.toThrow('unknown storage medium "Floppy"');
});
