import { expect, it } from "vitest";
import { createReportedVolumes } from "./reported-volumes.ts";

const A = "kubernetes.io/csi/disk.example^a";
const B = "kubernetes.io/csi/disk.example^b";
const NEVER = new AbortController().signal;

function createRig() {
  const volumes = createReportedVolumes();
  let asked = 0;
  volumes.onWanted(() => void asked++);
  const report = (names: string[], signal = NEVER) => {
    const ends: string[] = [];
    volumes.report(names, signal).then(
      () => ends.push("reported"),
      (error: Error) => ends.push(error.name),
    );
    return { is: () => ends[0] ?? "waits" };
  };
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { volumes, report, settle, asked: () => asked };
}

it("waits until the node's status names the volume, and asks for that at once", async () => {
  const { volumes, report, settle, asked } = createRig();
  const state = report([A]);
  expect(asked()).toBe(1);
  volumes.observe({ status: { volumesInUse: [B] } });
  await settle();
  expect([state.is(), asked()]).toEqual(["waits", 2]);
  volumes.observe({ status: { volumesInUse: [B, A] } });
  await settle();
  expect(state.is()).toBe("reported");
});

it("does not wait for what is known, but does again once it is known no longer", async () => {
  const { volumes, report, settle, asked } = createRig();
  volumes.observe({ status: { volumesInUse: [A, B] } });
  const known = report([A, B]);
  await settle();
  expect([known.is(), asked()]).toEqual(["reported", 0]);
  volumes.observe({ status: {} });
  const again = report([B]);
  await settle();
  expect([again.is(), asked()]).toEqual(["waits", 1]);
});

it("waits for the next status while one that does not name the volume is on its way", async () => {
  const { volumes, report, settle, asked } = createRig();
  volumes.observe({ status: { volumesInUse: [A, B] } });
  // A was unstaged, and the status is being made. A comes into use again before that status has been written.
  volumes.telling([B]);
  const [again, named] = [report([A]), report([B])];
  await settle();
  expect([again.is(), named.is(), asked()]).toEqual(["waits", "reported", 1]);
  volumes.observe({ status: { volumesInUse: [B] } });
  await settle();
  expect([again.is(), asked()]).toEqual(["waits", 2]);
  volumes.telling([A, B]);
  await settle();
  expect(again.is()).toBe("waits");
  volumes.observe({ status: { volumesInUse: [A, B] } });
  await settle();
  expect(again.is()).toBe("reported");
});

it("what a status that was not written did not name is known again once the node is seen to name it", async () => {
  const { volumes, report, settle } = createRig();
  volumes.observe({ status: { volumesInUse: [A] } });
  volumes.telling([]);
  const state = report([A]);
  volumes.telling([A]);
  await settle();
  expect(state.is()).toBe("waits");
  volumes.observe({ status: { volumesInUse: [A] } });
  await settle();
  expect(state.is()).toBe("reported");
});

it("an abort ends the wait", async () => {
  const { report, settle } = createRig();
  const controller = new AbortController();
  const state = report([A], controller.signal);
  controller.abort();
  await settle();
  expect(state.is()).toBe("AbortError");
});
