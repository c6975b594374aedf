import { expect, it } from "vitest";
import type { Pod } from "../../api/gen/types.ts";
import { createPodFinder } from "./find-pod.ts";

it("finds a pod by both of its names", () => {
  const pod = (namespace: string, name: string): Pod => ({ metadata: { namespace, name }, spec: { containers: [] } });
  const pods = [pod("a", "x"), pod("b", "x"), pod("b", "y")];
  const find = createPodFinder({ pods: () => pods });
  expect([find("b", "x"), find("a", "y"), find("c", "x")]).toEqual([pods[1], undefined, undefined]);
});
