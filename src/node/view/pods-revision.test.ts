import { expect, it } from "vitest";
import type { Pod } from "../../api/gen/types.ts";
import { createPodsRevision } from "./pods-revision.ts";

const pod: Pod = { metadata: { uid: "1" }, spec: { containers: [] }, status: { phase: "Pending" } };

it.each<[what: string, before: Pod[], after: Pod[]]>([
  ["a pod more", [], [pod]],
  ["a pod less", [pod], []],
  ["another pod", [pod], [{ ...pod, metadata: { uid: "2" } }]],
  ["another status", [pod], [{ ...pod, status: { phase: "Running" } }]],
  ["another spec", [pod], [{ ...pod, spec: { containers: [] } }]],
  ["the mark of a deletion", [pod], [{ ...pod, metadata: { uid: "1", deletionTimestamp: "2026-01-01T00:00:00Z" } }]],
])("changes with %s", (_what, before, after) => {
  const revisionOf = createPodsRevision(1);
  expect(revisionOf(before, [])).not.toBe(revisionOf(after, []));
});

it("changes with a problem of a manifest", () => {
  const revisionOf = createPodsRevision(1);
  const problem = { file: "web.yaml", message: "it holds no pod" };
  const names = [[], [problem], [{ ...problem }], [{ ...problem, message: "document 1: no" }], []].map((problems) =>
    revisionOf([pod], problems),
  );
  expect(names[1]).toBe(names[2]);
  expect(new Set(names).size).toBe(4);
});

it("stays while pods are as they were, and differs in another run", () => {
  const revisionOf = createPodsRevision(1);
  expect(revisionOf([{ ...pod }], [])).toBe(revisionOf([{ ...pod }], []));
  expect(createPodsRevision(2)([pod], [])).not.toBe(revisionOf([pod], []));
});
