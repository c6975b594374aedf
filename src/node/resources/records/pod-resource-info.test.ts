import { expect, test } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { asksFor, resourceInfoOf, withResources } from "./pod-resource-info.ts";

const pod: Pod = {
  metadata: { uid: "u" },
  spec: {
    containers: [{ name: "main", resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } }],
    initContainers: [{ name: "constructor" }],
  },
};

test("a pod that asks for what is recorded stays itself, in whatever words", () => {
  const same = { containers: { main: { requests: { cpu: "1000m" }, limits: { cpu: "2" } } } };
  expect(withResources(pod, same)).toBe(pod);
  expect(withResources(pod, resourceInfoOf(pod))).toBe(pod);
  expect(withResources(pod, undefined)).toBe(pod);
});

test("other resources take the place of the pod's own; what is not recorded stays", () => {
  const other = { containers: { main: { requests: { cpu: "500m" } } }, pod: { limits: { memory: "1Gi" } } };
  expect(asksFor(pod, other)).toBe(false);
  expect(withResources(pod, other).spec).toEqual({
    containers: [{ name: "main", resources: { requests: { cpu: "500m" } } }],
    initContainers: [{ name: "constructor" }],
    resources: { limits: { memory: "1Gi" } },
  });
});
