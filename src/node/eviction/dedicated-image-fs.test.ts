import { beforeEach, expect, it } from "vitest";
import { ImageFsInfoResponse } from "../../cri/gen/cri-v1.ts";
import { createFakeHost, type FakeHost } from "../../host/fake/create-fake-host.ts";
import { createDedicatedImageFs } from "./dedicated-image-fs.ts";

const ROOT = "/var/lib/kubelet";
const IMAGES = "/var/lib/images";
const CONTAINERS = "/var/lib/containers";
const { signal } = new AbortController();

let host: FakeHost;
let answers: number;

beforeEach(async () => {
  host = createFakeHost();
  answers = 0;
  for (const directory of [ROOT, IMAGES, CONTAINERS]) await host.files.makeDirectory(directory, 0o755);
});

const imageFs = (images: string[], containers: string[] = []) =>
  createDedicatedImageFs(
    {
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
    { rootDirectory: ROOT },
  );

it.each<[string, string[], string[], boolean]>([
  ["one disk has all", [], [CONTAINERS], false],
  ["the images have one of their own", [IMAGES], [], true],
  ["the containers have one of their own", [CONTAINERS], [CONTAINERS], true],
  ["the pods have one of their own", [ROOT], [CONTAINERS], true],
])("%s", async (_what, apart, containers, isDedicated) => {
  for (const directory of apart) await host.mounts.mountMemory(directory, 1024n);
  const dedicated = imageFs([IMAGES], containers);
  expect(await dedicated.read(signal)).toBe(isDedicated);
  expect([await dedicated.read(signal), answers]).toEqual([isDedicated, 1]);
});

it("is asked again after a runtime that did not say, or named a directory that is not there", async () => {
  await expect(imageFs([]).read(signal)).rejects.toThrow("imagefs device is not found");
  const later = imageFs(["/var/lib/later"]);
  await expect(later.read(signal)).rejects.toThrow("/var/lib/later is not there");
  await host.files.makeDirectory("/var/lib/later", 0o755);
  expect(await later.read(signal)).toBe(false);
});
