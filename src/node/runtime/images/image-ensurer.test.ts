import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeCri, type FakeCriOptions } from "../../../cri/fake/create-fake-cri.ts";
import { RemoveImageRequest } from "../../../cri/gen/cri-v1.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { openImages } from "./__fixtures__/open-images.ts";
import { createImageEnsurer } from "./image-ensurer.ts";
import type { PullLimits } from "./image-puller.ts";

const NEVER = new AbortController().signal;
const MISSING = { code: "not-found" as const, detail: "no such image" };

function createRig(options: Partial<FakeCriOptions> & Partial<PullLimits> = {}) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  let pulls = 0;
  const cri = createFakeCri({
    clock,
    ...options,
    faults: {
      ...options.faults,
      async before(call) {
        if (call.rpc === "pullImage") pulls++;
        await options.faults?.before?.(call);
      },
    },
  });
  const ensurer = createImageEnsurer(
    { ...openImages({ clock }), images: cri.images, timeline },
    { parallelPulls: options.parallelPulls ?? 1, rate: options.rate },
  );
  const ensure = async (container: Partial<Container>, { uid = "uid-1", signal = NEVER } = {}) => {
    const pod: Pod = { metadata: { uid, name: "web", namespace: "default" } };
    return await ensurer.ensureImage(pod, { name: "main", ...container }, signal);
  };
  const events = (uid = "uid-1") =>
    timeline.read(uid).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  return { clock, cri, ensure, events, pulls: () => pulls };
}

describe("the rate of pulls", () => {
  it("lets a burst through, and then one after the other", async () => {
    const refs = ["a", "b", "c", "d"];
    const registry = refs.map((ref) => ({ ref, pullMs: 0 }));
    const { ensure, clock, pulls } = createRig({ registry, parallelPulls: 9, rate: { qps: 1, burst: 2 } });
    const ensured = refs.map(async (image, index) => await ensure({ image }, { uid: `uid-${index}` }));
    await clock.settle();
    expect(pulls()).toBe(2);
    await clock.advance(1_000);
    expect(pulls()).toBe(3);
    await clock.advance(1_000);
    expect((await Promise.all(ensured)).some((outcome) => "reason" in outcome)).toBe(false);
    expect(pulls()).toBe(4);
  });
});

describe("a long pull", () => {
  it("tells how far it is, between upstream's events", async () => {
    const { ensure, clock, events } = createRig({ registry: [{ ref: "big", pullMs: 70_000 }] });
    const ensured = ensure({ image: "big" });
    await clock.advance(70_000);
    await ensured;
    expect(events()).toEqual([
      'Normal Pulling: Pulling image "big"',
      'Normal PullProgress: Still pulling image "big": after 60s',
      expect.stringMatching(/^Normal Pulled: Successfully pulled image "big" in 1m10s/),
    ]);
  });
});

describe("the pull policy", () => {
  it.each([
    ["IfNotPresent", "busybox", "present", 0],
    [undefined, "busybox", "present", 0],
    ["Never", "busybox", "present", 0],
    ["Always", "busybox", "present", 1],
    ["IfNotPresent", "remote", "present", 1],
    ["Always", "remote", "present", 1],
    ["Never", "remote", "ErrImageNeverPull", 0],
  ])("%s with %s: %s after %i pulls", async (imagePullPolicy, image, expected, pulled) => {
    const { ensure, pulls } = createRig({ registry: [{ ref: "busybox" }, { ref: "remote" }] });
    const outcome = await ensure({ image, ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }) });
    expect("reason" in outcome ? outcome.reason : "present").toBe(expected);
    expect(pulls()).toBe(pulled);
  });

  it("says what it did in upstream's words", async () => {
    const { ensure, events } = createRig({ registry: [{ ref: "remote", pullMs: 0 }] });
    await ensure({ image: "busybox" });
    await ensure({ image: "remote" });
    await ensure({ image: "other", imagePullPolicy: "Never" });
    expect(events()).toEqual([
      'Normal Pulled: Container image "busybox" already present on machine',
      'Normal Pulling: Pulling image "remote"',
      'Normal Pulled: Successfully pulled image "remote" in 0s (0s including waiting). Image size: 0 bytes.',
      'Warning ErrImageNeverPull: Container image "other" is not present with pull policy of Never',
    ]);
  });
});

it("tells whom the image runs as", async () => {
  const { ensure } = createRig({
    images: [{ ref: "root" }, { ref: "numeric", user: 7 }, { ref: "named", user: "www" }],
  });
  expect(await ensure({ image: "root" })).toMatchObject({ user: { uid: undefined, username: "" } });
  expect(await ensure({ image: "numeric" })).toMatchObject({ user: { uid: 7n } });
  expect(await ensure({ image: "named" })).toMatchObject({ user: { uid: undefined, username: "www" } });
});

it.each(["", " ", "UPPER/Case/image:", "a b", "-x", "host:5000/Image", "image@sha256:short", "a//b", "x:tag:tag/"])(
  "no registry could serve %j",
  async (image) => {
    const { ensure, pulls } = createRig();
    const outcome = await ensure({ image });
    expect(outcome).toMatchObject({ reason: "InvalidImageName" });
    expect(pulls()).toBe(0);
  },
);

it.each([
  "busybox",
  "library/busybox:1.36",
  "localhost:5000/a/b_c/d--e:v1.0_x",
  `registry.k8s.io/pause@sha256:${"a".repeat(64)}`,
  `host:5000/x:1@sha256:${"0".repeat(64)}`,
])("takes %s for the name of an image", async (image) => {
  const outcome = await createRig({ images: [{ ref: image }] }).ensure({ image });
  expect(outcome).not.toMatchObject({ reason: "InvalidImageName" });
});

it("does not take a runtime that cannot look for one that lacks the image", async () => {
  const before = () => {
    throw Object.assign(new Error("disk"), { code: "internal" });
  };
  const { ensure } = createRig({ faults: { before } });
  expect(await ensure({ image: "busybox" })).toMatchObject({
    reason: "ImageInspectError",
    message: expect.stringContaining('Failed to inspect image "busybox"'),
  });
});

describe("a pull that fails", () => {
  it("is tried again on time: after 10 s, and after twice as long each time up to 5 min", async () => {
    const { clock, ensure, pulls } = createRig({ registry: [{ ref: "bad", pullError: MISSING }] });
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      const failed = await ensure({ image: "bad" });
      expect(failed).toMatchObject({ reason: "ErrImagePull", message: expect.stringContaining("no such image") });
      const why = "reason" in failed ? failed.message : "";
      expect("reason" in failed && failed.retryAt).toBe(clock.now() + 1_000);
      const failedAt = clock.now();
      await clock.advance(1_000);
      const waiting = await ensure({ image: "bad" });
      const retryAt = "reason" in waiting ? (waiting.retryAt ?? 0) : 0;
      const message = `Back-off pulling image "bad": ErrImagePull: ${why}`;
      expect(waiting).toEqual({ reason: "ImagePullBackOff", message, retryAt });
      waits.push((retryAt - failedAt) / 1000);
      await clock.advance(retryAt - clock.now() - 1);
      expect(await ensure({ image: "bad" })).toEqual(waiting);
      await clock.advance(1);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300]);
    expect(pulls()).toBe(7);
  });

  it("starts over after one that succeeds", async () => {
    const { clock, cri, ensure } = createRig();
    const first = await ensure({ image: "late" });
    await clock.advance(10_000);
    await ensure({ image: "late" });
    await clock.advance(20_000);
    cri.addImage({ ref: "late" });
    expect(await ensure({ image: "late", imagePullPolicy: "Always" })).toHaveProperty("imageRef");
    await cri.images.removeImage(RemoveImageRequest.fromPartial({ image: { image: "late" } }));
    expect(await ensure({ image: "late" })).toMatchObject({ reason: "ErrImagePull" });
    const again = await ensure({ image: "late" });
    expect("reason" in first && "reason" in again && (again.retryAt ?? 0) - clock.now()).toBe(10_000);
  });

  it("does not make another pod or image wait", async () => {
    const { ensure, pulls } = createRig({ registry: [{ ref: "bad", pullError: MISSING }, { ref: "good" }] });
    await ensure({ image: "bad" });
    expect(await ensure({ image: "bad" }, { uid: "uid-2" })).toMatchObject({ reason: "ErrImagePull" });
    expect(await ensure({ image: "good" })).toHaveProperty("imageRef");
    expect(pulls()).toBe(3);
  });
});

describe("pulls at once", () => {
  it.each([
    [1, [1_000, 2_000, 3_000]],
    [2, [1_000, 1_000, 2_000]],
  ])("are %i, in the order in which they were asked for", async (parallelPulls, ends) => {
    const registry = ["a", "b", "c"].map((ref) => ({ ref, pullMs: 1_000 }));
    const { clock, ensure, events } = createRig({ registry, parallelPulls });
    const ended: number[] = [];
    const all = registry.map(async ({ ref }) => {
      await ensure({ image: ref });
      ended.push(clock.monotonic());
    });
    await clock.advance(3_000);
    await Promise.all(all);
    expect(ended).toEqual(ends);
    expect(events().some((event) => event.includes("including waiting"))).toBe(true);
  });

  it("leave the line when nobody wants them any more, and are no failure then", async () => {
    const registry = ["a", "b"].map((ref) => ({ ref, pullMs: 1_000 }));
    const { clock, ensure, pulls } = createRig({ registry });
    const controllers = [new AbortController(), new AbortController()] as const;
    const first = ensure({ image: "a" }, { signal: controllers[0].signal }).catch((error: Error) => error.name);
    const second = ensure({ image: "b" }, { signal: controllers[1].signal }).catch((error: Error) => error.name);
    await clock.settle();
    controllers[1].abort();
    expect(await second).toBe("AbortError");
    controllers[0].abort();
    expect(await first).toBe("AbortError");
    expect(pulls()).toBe(1);
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
    const again = ensure({ image: "a" });
    await clock.advance(1_000);
    expect(await again).toHaveProperty("imageRef");
  });
});
