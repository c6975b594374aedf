import { expect, it } from "vitest";
import type { PodStatus } from "../../../api/gen/types.ts";
import { apiPod, createDesired, mirrorOf, staticPod } from "./__fixtures__/desired.ts";
import { createMirrorLives } from "./mirror-lives.ts";

const web = staticPod("hash-1");

function createLives(mirrorStatus: PodStatus = {}, published?: PodStatus) {
  const mirror = mirrorOf(web, "mirror-1", mirrorStatus);
  const desired = createDesired({ pods: [web, apiPod("api-1")], mirrors: [mirror] });
  const statuses = new Map(published && [["hash-1", published]]);
  return { desired, mirror, lives: createMirrorLives({ desired, statuses }) };
}

it("shows a static pod by its mirror, and a pod of the API server by itself", () => {
  const { desired, mirror, lives } = createLives();
  expect(lives.shownPodOf("hash-1")).toBe(mirror);
  expect(lives.shownPodOf("api-1")).toBe(desired.byUid("api-1"));
  expect(lives.shownPodOf("unknown")).toBeUndefined();
});

it("does not show a pod by the mirror of an older manifest, nor without a mirror", () => {
  const { desired, lives } = createLives();
  desired.wanted.pods = [staticPod("hash-2")];
  expect(lives.shownPodOf("hash-2")).toBeUndefined();
  desired.wanted.mirrors = [];
  expect(lives.shownPodOf("hash-2")).toBeUndefined();
});

it("takes the mirror of a pod that has ended for outlived, until the mirror is gone", () => {
  const { desired, mirror, lives } = createLives();
  expect(lives.outlivedMirrorOf(web)).toBeUndefined();
  lives.end(web);
  expect(lives.outlivedMirrorOf(web)).toBe(mirror);
  expect(lives.shownPodOf("hash-1")).toBeUndefined();
  expect(lives.eventPodOf("hash-1")).toBe(web);

  lives.forgetGone();
  expect(lives.isOutlived(mirror)).toBe(true);
  desired.wanted.mirrors = [];
  lives.forgetGone();
  expect(lives.isOutlived(mirror)).toBe(false);
});

it("takes a mirror for outlived that tells of an end while the pod runs", () => {
  const ended = createLives({ phase: "Succeeded" }, { phase: "Running" });
  expect(ended.lives.isOutlived(ended.mirror)).toBe(true);
  const running = createLives({ phase: "Running" }, { phase: "Succeeded" });
  expect(running.lives.isOutlived(running.mirror)).toBe(false);
});

it("ends nothing for a pod of the API server", () => {
  const { mirror, lives } = createLives();
  lives.end(apiPod("api-1"));
  expect(lives.isOutlived(mirror)).toBe(false);
});
