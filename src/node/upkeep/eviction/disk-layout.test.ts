import { beforeEach, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import type { EvictionSignal, EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { ImageFsInfoResponse } from "../../../cri/gen/cri-v1.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { createDiskLayoutReader, withContainerFs } from "./disk-layout.ts";

const ROOT = "/var/lib/kubelet";
const IMAGES = "/var/lib/images";
const CONTAINERS = "/var/lib/containers";
const { signal } = new AbortController();

let host: FakeHost;
let answers: number;
let complaints: string[];

beforeEach(async () => {
  host = createFakeHost();
  answers = 0;
  complaints = [];
  for (const directory of [ROOT, IMAGES, CONTAINERS]) await host.files.makeDirectory(directory, 0o755);
});

const readerOf = (images: string[], containers: string[] = [], mayBeSplit = true) =>
  createDiskLayoutReader(
    {
      log: { ...silentLog, error: (message) => void complaints.push(message) },
      files: host.files,
      images: {
        async imageFsInfo() {
          answers++;
          const at = (mountpoint: string) => ({ fsId: { mountpoint } });
          return ImageFsInfoResponse.fromPartial({
            imageFilesystems: images.map(at),
            containerFilesystems: containers.map(at),
          });
        },
      },
    },
    { rootDirectory: ROOT, mayBeSplit },
  );

it.each<[string, string[], string[], object]>([
  ["one disk has all", [], [CONTAINERS], { imageFs: ROOT, containerFs: ROOT, isDedicated: false, isSplit: false }],
  [
    "the images have one of their own",
    [IMAGES],
    [],
    { imageFs: IMAGES, containerFs: IMAGES, isDedicated: true, isSplit: false },
  ],
  [
    "the containers have one of their own",
    [CONTAINERS],
    [CONTAINERS],
    { imageFs: ROOT, containerFs: CONTAINERS, isDedicated: true, isSplit: true },
  ],
  [
    "the pods have one of their own",
    [ROOT],
    [CONTAINERS],
    { imageFs: IMAGES, containerFs: IMAGES, isDedicated: true, isSplit: false },
  ],
])("%s", async (_what, apart, containers, expected) => {
  for (const directory of apart) await host.mounts.mountMemory(directory, 1024n);
  const reader = readerOf([IMAGES], containers);
  const layout = { nodeFs: ROOT, ...expected };
  expect(await reader.read(signal)).toEqual(layout);
  expect([await reader.read(signal), answers]).toEqual([layout, 1]);
});

it("is asked again after a runtime that did not say, or named a directory that is not there", async () => {
  await expect(readerOf([]).read(signal)).rejects.toThrow("imagefs device is not found");
  const later = readerOf(["/var/lib/later"]);
  await expect(later.read(signal)).rejects.toThrow("/var/lib/later is not there");
  await host.files.makeDirectory("/var/lib/later", 0o755);
  expect(await later.read(signal)).toMatchObject({ isDedicated: false });
});

const threshold = (name: EvictionSignal, share: number, gracePeriodMs = 0): EvictionThreshold => {
  return { signal: name, value: { kind: "share", share }, gracePeriodMs, minReclaim: undefined };
};

it.each<[string, { isDedicated: boolean; isSplit: boolean }, readonly number[]]>([
  ["of one disk for all", { isDedicated: false, isSplit: false }, [0.1, 0.2]],
  ["of images and containers together", { isDedicated: true, isSplit: false }, [0.3]],
  ["of containers with the pods, apart from images", { isDedicated: true, isSplit: true }, [0.1, 0.2]],
])("thresholds of the containers' disk are those %s, whatever was asked for", (_what, layout, shares) => {
  const given = [
    threshold("nodefs.available", 0.1),
    threshold("nodefs.available", 0.2, 60_000),
    threshold("imagefs.available", 0.3),
    threshold("containerfs.available", 0.9),
  ];
  const derived = withContainerFs(given, layout).filter(({ signal: name }) => name.startsWith("containerfs."));
  expect(derived.map(({ value }) => value)).toEqual(shares.map((share) => ({ kind: "share", share })));
});

it("of split disks is refused with the gate off, which is said once; other disks do not mind", async () => {
  const whole = readerOf([IMAGES], [], false);
  await expect(whole.read(signal)).resolves.toMatchObject({ isSplit: false });
  await host.mounts.mountMemory(CONTAINERS, 1024n);
  const reader = readerOf([IMAGES], [CONTAINERS], false);
  for (let times = 0; times < 2; times++) {
    await expect(reader.read(signal)).rejects.toThrow(
      "KubeletSeparateDiskGC is turned off but we still have a split filesystem",
    );
  }
  expect(complaints).toEqual([
    "Eviction manager: KubeletSeparateDiskGC is turned off but we still have a split filesystem",
  ]);
});
