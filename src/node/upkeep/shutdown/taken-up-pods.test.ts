import { expect, it } from "vitest";
import { initialState } from "../../pods/workers/pod-state.ts";
import { isEveryPodTakenUp } from "./taken-up-pods.ts";

const POD = { metadata: { uid: "web", name: "web", namespace: "shop" }, spec: { containers: [{ name: "main" }] } };
const STATE = initialState({ type: "create", subject: { kind: "pod", pod: POD } }, "web");

it.each([
  ["sources that were not read", { areRead: false, runs: false, hasWorker: false }, false],
  ["a pod that runs and has no worker", { areRead: true, runs: true, hasWorker: false }, false],
  ["a pod that runs and has one", { areRead: true, runs: true, hasWorker: true }, true],
  ["a pod of which nothing runs", { areRead: true, runs: false, hasWorker: false }, true],
])("judges %s", (_, { areRead, runs, hasWorker }, expected) => {
  const desired = { allReady: () => areRead, pods: () => [POD] };
  const workers = { state: () => (hasWorker ? STATE : undefined) };
  expect(isEveryPodTakenUp({ desired, running: { isListed: () => runs }, workers })).toBe(expected);
});
