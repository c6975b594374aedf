import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFakeCri, type FakeCri } from "../../cri/fake/create-fake-cri.ts";
import { ContainerConfig, PodSandboxConfig } from "../../cri/gen/cri-v1.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { keepImage, readKeptImages } from "../../node/runtime/images/kept-images.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "./image-references.ts";
import { listNodeImages, pruneNodeImages, removeNodeImage } from "./node-images.ts";

const SIGNAL = new AbortController().signal;

let runtime: FakeCri & { keptImages: string };
beforeEach(async () => {
  const keptImages = await mkdtemp(join(tmpdir(), "kept-images-"));
  const images = [
    { ref: PAUSE_IMAGE, sizeBytes: 1 },
    { ref: DEMO_IMAGE, sizeBytes: 2 },
    { ref: "app:1", sizeBytes: 4 },
    { ref: "used:1", sizeBytes: 3, cmd: ["sh"] },
  ];
  runtime = { ...createFakeCri({ clock: createFakeClock(), images }), keptImages };
  const config = PodSandboxConfig.fromPartial({ metadata: { name: "p", uid: "u", namespace: "n" } });
  const { podSandboxId } = await runtime.runtime.runPodSandbox({ config, runtimeHandler: "" });
  const container = ContainerConfig.fromPartial({ metadata: { name: "c" }, image: { image: "used:1" } });
  await runtime.runtime.createContainer({ podSandboxId, config: container, sandboxConfig: config });
});

afterEach(async () => await rm(runtime.keptImages, { recursive: true }));

const names = async () => (await listNodeImages(runtime, SIGNAL)).flatMap((image) => image.names);
const remove = async (image: string, isForced = false) =>
  await removeNodeImage(runtime, image, { isForced, signal: SIGNAL });

test("images are told with their use, the largest first", async () => {
  expect(await listNodeImages(runtime, SIGNAL)).toMatchObject([
    { names: ["docker.io/library/app:1"], sizeBytes: 4, inUse: false, isKept: false },
    { names: ["docker.io/library/used:1"], sizeBytes: 3, inUse: true, isKept: false },
    { names: [DEMO_IMAGE], isKept: true },
    { names: [PAUSE_IMAGE], isKept: true },
  ]);
});

describe("an image is removed", () => {
  test("by a short name and by its id", async () => {
    await remove("app:1");
    expect(await names()).not.toContain("docker.io/library/app:1");
    const [used] = await listNodeImages(runtime, SIGNAL);
    await remove(used?.id ?? "", true);
    expect(await names()).toEqual([DEMO_IMAGE, PAUSE_IMAGE]);
  });

  test.each([
    ["that is not there", "other:1", false, { code: "no-image", message: /^other:1: there is no such image/ }],
    ["that a container uses", "used:1", false, { code: "in-use", message: /--force/ }],
    ["that the node needs, not even by force", PAUSE_IMAGE, true, { code: "kept" }],
  ])("but none %s", async (_what, image, isForced, error) => {
    const expected = "message" in error ? { ...error, message: expect.stringMatching(error.message ?? "") } : error;
    await expect(remove(image, isForced)).rejects.toMatchObject(expected);
    expect(await names()).toHaveLength(4);
  });
});

test("an image that is kept stays at a prune, until it is removed by its name", async () => {
  const app = "docker.io/library/app:1";
  await keepImage(linuxFiles, runtime.keptImages, app);
  expect(await pruneNodeImages(runtime, { onRemoved: () => undefined, signal: SIGNAL })).toEqual([]);
  expect(await listNodeImages(runtime, SIGNAL)).toMatchObject([{ names: [app], isKept: true }, {}, {}, {}]);
  await remove("app:1");
  expect(await names()).not.toContain(app);
  expect(await readKeptImages(linuxFiles, runtime.keptImages)).toEqual(new Set());
});

test("a prune leaves what containers use and what the node needs", async () => {
  const told: string[] = [];
  const onRemoved = (image: { names: readonly string[] }) => told.push(...image.names);
  const removed = await pruneNodeImages(runtime, { onRemoved, signal: SIGNAL });
  expect(removed.map(({ sizeBytes }) => sizeBytes)).toEqual([4]);
  expect(told).toEqual(["docker.io/library/app:1"]);
  expect(await names()).toEqual(["docker.io/library/used:1", DEMO_IMAGE, PAUSE_IMAGE]);
});
