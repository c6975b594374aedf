import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../api/object.ts";
import { POD_STATUS } from "./pod-status.ts";
import { validatePodUpdate } from "./pod-update.ts";

const MIRROR = { "kubernetes.io/config.mirror": "hash" };
const PATH = "metadata.annotations[kubernetes.io/config.mirror]";
const REMOVED = "may not remove or update mirror pod annotation";

const podWith = (annotations: Record<string, string>): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", annotations },
  spec: { nodeName: "n", containers: [{ name: "main", image: "i" }] },
});

/** A node reads what its pods refer to, but for the pods that it may create itself, which the annotation tells. */
describe("the mirror annotation of a pod", () => {
  it.each([
    ["stays", MIRROR, MIRROR, undefined],
    ["may have others beside it", MIRROR, { ...MIRROR, other: "x" }, undefined],
    ["is not removed", MIRROR, {}, REMOVED],
    ["is not changed", MIRROR, { "kubernetes.io/config.mirror": "other" }, REMOVED],
    ["is not added", {}, MIRROR, "may not add mirror pod annotation"],
  ])("%s, with the pod or with its status", (_what, before, after, detail) => {
    const expected =
      detail === undefined ? [] : [expect.objectContaining({ path: PATH, message: `Forbidden: ${detail}` })];
    expect(validatePodUpdate(podWith(after), podWith(before))).toEqual(expected);
    expect(POD_STATUS.validateUpdate?.(podWith(after), podWith(before))).toEqual(expected);
  });
});
