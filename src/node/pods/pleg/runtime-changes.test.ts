import { expect, it } from "vitest";
import { createRuntimeChanges } from "./runtime-changes.ts";

const pod = { uid: "1", name: "a", namespace: "b" };

function createRig(known: ReadonlySet<string>) {
  const steps: string[] = [];
  const change = createRuntimeChanges({
    cache: { invalidate: (uid) => void steps.push(`invalidate ${uid}`) },
    refresh: async ({ uid }, items) => void steps.push(`refresh ${uid}${items === undefined ? "" : " by its items"}`),
    isKnown: (uid) => known.has(uid),
  });
  return { steps, change };
}

it("takes what was known before for out of date, during the change and after it", async () => {
  const { steps, change } = createRig(new Set(["1"]));
  expect(await change(pod, async () => steps.push("change"))).toBe(2);
  expect(steps).toEqual(["invalidate 1", "change", "invalidate 1", "refresh 1"]);
});

it("reads the pod again also after a change that failed", async () => {
  const { steps, change } = createRig(new Set(["1"]));
  await expect(change(pod, async () => await Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(steps).toEqual(["invalidate 1", "invalidate 1", "refresh 1"]);
});

it("reads what is known to be there, and asks the lists after a change that failed", async () => {
  const { steps, change } = createRig(new Set(["1"]));
  const items = { sandboxes: [{ id: "s" }], containers: [] };
  await change(pod, async () => {}, items);
  expect(steps.splice(0).at(-1)).toBe("refresh 1 by its items");
  await expect(change(pod, async () => await Promise.reject(new Error("no")), items)).rejects.toThrow("no");
  expect(steps.at(-1)).toBe("refresh 1");
});

it("reads nothing of a pod that is gone meanwhile", async () => {
  const known = new Set(["1"]);
  const { steps, change } = createRig(known);
  await change(pod, async () => known.delete("1"));
  expect(steps).toEqual(["invalidate 1"]);
});
