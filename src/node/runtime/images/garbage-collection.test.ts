import { afterEach, describe, expect, it } from "vitest";
import { recordTracing } from "../../../base/__fixtures__/record-tracing.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { CriError } from "../../../cri/port.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createImageCollection } from "./garbage-collection.ts";
import type { ImageDiskUsage, ImageGarbagePolicy } from "./garbage-plan.ts";
import { createImageClaims } from "./image-claims.ts";
import { createUnusedImages } from "./unused-images.ts";

const NEVER = new AbortController().signal;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DEFAULTS: ImageGarbagePolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minAgeMs: 2 * MINUTE,
  maxAgeMs: 0,
};

interface UsingContainer {
  /** The image that it was made of. */
  readonly image: string;
  readonly mounted?: string;
}

interface RigState {
  /** The other bytes of the disk that are in use, beside the images. */
  otherBytes: bigint;
  sandboxImage: string;
  /** What listing images fails of. */
  failure: Error | undefined;
  looks: number;
}

let stop = async (): Promise<void> => {};
afterEach(async () => await stop());

/** A runtime of these images, each of ten bytes, on a disk of a hundred. */
function createRig(images: readonly string[], policy: Partial<ImageGarbagePolicy> = {}) {
  const clock = createFakeClock();
  const claims = createImageClaims({ clock });
  const metrics = createMetrics();
  const present = new Set(images);
  const containers = new Map<string, UsingContainer>();
  const pinned = new Set<string>();
  const keptNames = new Set<string>();
  const state: RigState = { otherBytes: 0n, sandboxImage: "", failure: undefined, looks: 0 };
  const removed: string[] = [];
  const listed: string[][] = [];
  const events: string[] = [];
  const disk = (): ImageDiskUsage => ({
    capacity: 100n,
    available: 100n - state.otherBytes - 10n * BigInt(present.size),
  });
  const service = {
    listImages: async () => {
      state.looks++;
      if (state.failure !== undefined) throw state.failure;
      const all = [...present].map((id) =>
        cri.Image.fromPartial({ id, repoTags: [`docker.io/library/${id}:latest`], size: 10n, pinned: pinned.has(id) }),
      );
      return await Promise.resolve({ images: all });
    },
    removeImage: async ({ image }: cri.RemoveImageRequest) => {
      const id = image?.image ?? "";
      if (id.startsWith("stuck")) {
        throw new CriError("unknown", { rpc: "RemoveImage", endpoint: "e", detail: `${id} is stuck` });
      }
      removed.push(id);
      present.delete(id);
      return await Promise.resolve({});
    },
    imageStatus: async ({ image }: cri.ImageStatusRequest) =>
      await Promise.resolve(
        cri.ImageStatusResponse.fromPartial({
          image: present.has(image?.image ?? "") ? { id: image?.image ?? "" } : undefined,
        }),
      ),
  };
  const runtime = {
    listContainers: async () => {
      const all = [...containers].map(([id, { image }]) => cri.Container.fromPartial({ id, imageRef: image }));
      return await Promise.resolve({ containers: all });
    },
    containerStatus: async ({ containerId }: cri.ContainerStatusRequest) => {
      const image = containers.get(containerId)?.mounted;
      const mounts = image === undefined ? [] : [{ image: { image } }];
      return await Promise.resolve(cri.ContainerStatusResponse.fromPartial({ status: { mounts } }));
    },
    status: async () => {
      const { sandboxImage } = state;
      const info: Record<string, string> = sandboxImage ? { config: JSON.stringify({ sandboxImage }) } : {};
      return await Promise.resolve(cri.StatusResponse.fromPartial({ info }));
    },
  };
  const { tracing, spans } = recordTracing();
  const unused = createUnusedImages({
    cri: { runtime, images: service },
    claims,
    clock,
    log: silentLog,
    metrics,
    readKeptNames: async () => await Promise.resolve(keptNames),
    onListed: async (ids) => await Promise.resolve(void listed.push([...ids])),
  });
  const collection = createImageCollection(
    {
      clock,
      claims,
      unused,
      log: silentLog,
      tracing,
      readDiskUsage: async () => await Promise.resolve(disk()),
      recordNodeEvent: ({ reason, message }) => void events.push(`${reason}: ${message}`),
    },
    { ...DEFAULTS, ...policy },
  );
  const start = async () => {
    const controller = new AbortController();
    const run = collection.run(controller.signal).catch(() => undefined);
    stop = async () => {
      controller.abort();
      await run;
      expect(clock.pendingTimers).toBe(0);
      stop = async () => {};
    };
    await clock.settle();
  };
  const use = (image: string, mounted?: string) => {
    const id = `container-${containers.size}`;
    containers.set(id, { image, ...(mounted !== undefined && { mounted }) });
    return () => containers.delete(id);
  };
  return {
    clock,
    claims,
    collection,
    metrics,
    state,
    present,
    pinned,
    keptNames,
    removed,
    listed,
    events,
    spans,
    start,
    use,
  };
}

describe("a disk that is too full", () => {
  it("loses images that nobody uses until it is at the lower threshold, the longest unused first", async () => {
    const { clock, state, removed, events, metrics, start, use } = createRig(["a", "b", "c", "d", "e"]);
    const stopUsing = use("a");
    await start();
    stopUsing();
    await clock.advance(5 * MINUTE);
    expect(removed).toEqual([]);
    state.otherBytes = 45n;
    await clock.advance(5 * MINUTE);
    expect([removed, events]).toEqual([["b", "c"], []]);
    expect(await metrics.render()).toContain('kubelet_image_garbage_collected_total{reason="space"} 2');
  });

  it.each<[string, (rig: ReturnType<typeof createRig>) => void]>([
    ["a container was made of", ({ use }) => void use("precious")],
    ["a container mounts", ({ use }) => void use("another", "precious")],
    ["the runtime pins", ({ pinned }) => void pinned.add("precious")],
    ["who set up the node keeps", ({ keptNames }) => void keptNames.add("docker.io/library/precious:latest")],
    ["sandboxes are made of", ({ state }) => (state.sandboxImage = "precious")],
  ])("keeps the image that %s", async (_what, keep) => {
    const rig = createRig(["precious", "idle"]);
    keep(rig);
    await rig.start();
    rig.state.otherBytes = 80n;
    await rig.clock.advance(5 * MINUTE);
    expect(rig.removed).toEqual(["idle"]);
  });

  it("keeps what was claimed for a container that is being made, and what is being pulled", async () => {
    const { clock, claims, state, removed, start } = createRig(["claimed", "pulled", "idle"]);
    await start();
    await clock.advance(7 * MINUTE - SECOND);
    state.otherBytes = 90n;
    await claims.claim("claimed", NEVER);
    let pulled = () => {};
    const pull = claims.duringPull("pulled", async () => await new Promise<void>((resolve) => (pulled = resolve)));
    await clock.advance(SECOND);
    expect(removed).toEqual(["idle"]);
    pulled();
    await pull;
    await clock.advance(10 * SECOND);
    expect(removed).toEqual(["idle", "pulled"]);
    await clock.advance(2 * MINUTE);
    expect(removed).toEqual(["idle", "pulled", "claimed"]);
  });

  it("keeps images that are younger than they must be, and looks again when they are not", async () => {
    const { clock, state, removed, events, start } = createRig(["a", "b"]);
    state.otherBytes = 70n;
    await start();
    await clock.advance(2 * MINUTE - 1);
    expect([removed, events]).toEqual([[], []]);
    await clock.advance(1);
    expect(removed).toEqual(["a"]);
  });

  it("is looked at ten seconds after a pull, and not for each of many", async () => {
    const { clock, claims, state, start } = createRig(["a"]);
    await start();
    const before = state.looks;
    for (const name of ["x", "y", "z"]) {
      await claims.duringPull(name, async () => await Promise.resolve());
      await clock.advance(SECOND);
    }
    await clock.advance(8 * SECOND);
    expect(state.looks - before).toBe(1);
  });

  it("is told of as upstream does where that is not enough; as a failure from the second time on", async () => {
    const { clock, state, removed, events, start, use } = createRig(["a", "b"]);
    use("b");
    await start();
    state.otherBytes = 90n;
    await clock.advance(5 * MINUTE);
    const told = (percent: number, freed: number) =>
      `Insufficient free disk space on the node's image filesystem (${percent}% of 100 B used). Failed to free ` +
      `sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used ` +
      "by active images, logs, volumes, or other data.";
    expect([removed, events]).toEqual([["a"], [`FreeDiskSpaceFailed: ${told(110, 10)}`]]);
    await clock.advance(5 * MINUTE);
    expect(events.slice(1)).toEqual([`FreeDiskSpaceFailed: ${told(100, 0)}`, `ImageGCFailed: ${told(100, 0)}`]);
  });

  it("is told of when an image cannot be removed; the others go", async () => {
    const { clock, state, removed, events, start } = createRig(["stuck", "b"]);
    await start();
    state.otherBytes = 80n;
    await clock.advance(5 * MINUTE);
    expect([removed, events]).toEqual([["b"], []]);
    state.otherBytes = 90n;
    await clock.advance(5 * MINUTE);
    expect(events).toEqual([
      "ImageGCFailed: wanted to free 20 bytes, but freed 0 bytes space with errors in image deletion: " +
        "RemoveImage at e: stuck is stuck (unknown)",
    ]);
  });

  it("is told of once the runtime cannot be asked for the second time", async () => {
    const { clock, state, events, start } = createRig([]);
    state.failure = new Error("no runtime");
    await start();
    expect(events).toEqual([]);
    await clock.advance(5 * MINUTE);
    expect(events).toEqual(["ImageGCFailed: no runtime"]);
    state.failure = undefined;
    await clock.advance(5 * MINUTE);
    state.failure = new Error("no runtime");
    await clock.advance(5 * MINUTE);
    expect(events).toHaveLength(1);
  });
});

describe("an image that is unused for too long", () => {
  const rules = { maxAgeMs: 10 * MINUTE };

  it("goes at that time, however empty the disk", async () => {
    const { clock, removed, metrics, start } = createRig(["a"], rules);
    await start();
    await clock.advance(10 * MINUTE);
    expect(removed).toEqual([]);
    await clock.advance(SECOND);
    expect(removed).toEqual(["a"]);
    expect(await metrics.render()).toContain('kubelet_image_garbage_collected_total{reason="age"} 1');
  });

  it("is one that was last seen used so long ago", async () => {
    const { clock, removed, start, use } = createRig(["a"], rules);
    const stopUsing = use("a");
    await start();
    // Looked at every five minutes, after the first time when it was old enough to go.
    await clock.advance(27 * MINUTE);
    stopUsing();
    await clock.advance(10 * MINUTE);
    expect(removed).toEqual([]);
    await clock.advance(SECOND);
    expect(removed).toEqual(["a"]);
  });

  it("goes though the thresholds are switched off", async () => {
    const { clock, removed, start } = createRig(["a"], { ...rules, highThresholdPercent: 100 });
    await start();
    await clock.advance(10 * MINUTE + SECOND);
    expect(removed).toEqual(["a"]);
  });

  it("stays where a container mounts it", async () => {
    const { clock, removed, start, use } = createRig(["a", "b"], rules);
    use("b", "a");
    await start();
    await clock.advance(60 * MINUTE);
    expect(removed).toEqual([]);
  });
});

describe("whoever needs room", () => {
  it("gets so much of it, and no more goes than that needs", async () => {
    const { clock, collection, removed, start } = createRig(["a", "b", "c"]);
    await start();
    await clock.advance(5 * MINUTE);
    expect(await collection.freeImages(NEVER, 11n)).toBe(20n);
    expect(removed).toEqual(["a", "b"]);
  });

  it("gets all there is where no number is named, but what must stay", async () => {
    const { clock, collection, removed, start, use } = createRig(["a", "b", "c"]);
    use("b");
    await start();
    expect(await collection.freeImages(NEVER)).toBe(0n);
    await clock.advance(5 * MINUTE);
    expect(await collection.freeImages(NEVER)).toBe(20n);
    expect(removed).toEqual(["a", "c"]);
  });
});

it("with all of it switched off, images are listed all the same, for who keeps records of them", async () => {
  const { clock, state, listed, removed, present, start } = createRig(["a"], { highThresholdPercent: 100 });
  await start();
  state.otherBytes = 90n;
  present.add("b");
  await clock.advance(5 * MINUTE);
  expect([listed, removed]).toEqual([[["a"], ["a", "b"]], []]);
});

it("makes a trace of each round", async () => {
  const { clock, spans, start } = createRig(["a"]);
  await start();
  await clock.advance(5 * MINUTE);
  const round = { start: { name: "Images/GarbageCollect", isRoot: true }, attributes: {}, end: "well" };
  expect(spans).toEqual([round, round]);
});

it("a disk of no size is an error of its own", async () => {
  const events: string[] = [];
  const clock = createFakeClock();
  const claims = createImageClaims({ clock });
  const look = { at: 0, images: [], unused: [], readKept: async () => await Promise.resolve(new Set<string>()) };
  const collection = createImageCollection(
    {
      clock,
      claims,
      log: silentLog,
      unused: {
        look: async () => await Promise.resolve(look),
        remove: async () => await Promise.resolve({ left: [], freed: 0n, errors: [] }),
        recordOf: () => undefined,
      },
      readDiskUsage: async () => await Promise.resolve({ capacity: 0n, available: 0n }),
      recordNodeEvent: ({ reason, message }) => void events.push(`${reason}: ${message}`),
    },
    DEFAULTS,
  );
  const controller = new AbortController();
  const run = collection.run(controller.signal).catch(() => undefined);
  await clock.settle();
  expect(events).toEqual(["InvalidDiskCapacity: invalid capacity 0 on image filesystem"]);
  controller.abort();
  await run;
});
