import { expect, it } from "vitest";
import { makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import { emptyPodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { createKnownItems } from "./known-items.ts";

const pod = { uid: "uid-1", name: "web", namespace: "default" };
const nothing = emptyPodRuntimeStatus(pod, 0);
const made = { sandboxes: [{ id: "s" }], containers: [{ id: "c", sandboxId: "s" }] };
const running = { ...makeRuntimeStatus(["main running"]), ...pod };

it("knows all of a pod that was started on nothing, and of its reading", () => {
  const known = createKnownItems();
  expect(known.afterStop(running)).toBeUndefined();
  expect(known.afterStart(nothing, made)).toEqual(made);
  const items = known.afterStop(running);
  const stopped = running.sandboxes.map((status) => ({ ...status, state: "notready", ips: [] }));
  expect(items?.sandboxes).toEqual(stopped.map((status) => ({ id: status.id, status })));
  expect(items?.containers).toEqual(running.containers.map(({ id, sandboxId }) => ({ id, sandboxId })));
});

it("adds what another start made", () => {
  const known = createKnownItems();
  known.afterStart(nothing, made);
  const [before] = [running.containers.map(({ id, sandboxId }) => ({ id, sandboxId }))];
  expect(known.afterStart(running, { sandboxes: [], containers: [{ id: "d", sandboxId: "s" }] })?.containers).toEqual([
    ...before,
    { id: "d", sandboxId: "s" },
  ]);
});

it("leaves a pod of a former process to the lists", () => {
  const known = createKnownItems();
  expect(known.afterStart(running, made)).toBeUndefined();
  expect(known.afterStop(running)).toBeUndefined();
});

it("leaves a pod to the lists after a call without an answer, also when a later one has one", () => {
  const known = createKnownItems();
  known.doubt(pod.uid);
  expect(known.afterStart(nothing, made)).toBeUndefined();
  expect(known.afterStop(running)).toBeUndefined();
});

it("begins anew after the pod was removed", () => {
  const known = createKnownItems();
  known.doubt(pod.uid);
  known.forget(pod.uid);
  expect(known.afterStart(nothing, made)).toEqual(made);
});
