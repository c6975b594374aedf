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

it("an abort ends the wait", async () => {
  const { report, settle } = createRig();
  const controller = new AbortController();
  const state = report([A], controller.signal);
  controller.abort();
  await settle();
  expect(state.is()).toBe("AbortError");
});
