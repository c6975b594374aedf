import { expect, it } from "vitest";
import { AbortedError } from "../../../base/abort.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { emptyPodRuntimeStatus, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { reference, signal, UID } from "./__fixtures__/pod-sync-rig.ts";
import { ClaimsNotReadyError, createClaimSteps } from "./claim-steps.ts";

const POD = { metadata: reference, spec: { containers: [] } };

function createRig(fail?: Error) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const told: string[] = [];
  const steps = createClaimSteps({
    clock,
    timeline,
    deviceClaims: {
      async prepare(_pod, { hasSandbox }) {
        told.push(`prepare ${hasSandbox ? "in a sandbox" : "before the sandbox"}`);
        if (fail) throw fail;
        await clock.advance(1_500);
      },
      unprepare: async (uid) => void told.push(`unprepare ${uid}`),
    },
  });
  const empty = emptyPodRuntimeStatus(reference, clock.now());
  const run = (sandboxes: PodRuntimeStatus["sandboxes"] = []) =>
    ({ reference, pod: POD, phase: "syncing", signal, runtime: { ...empty, sandboxes } }) as const;
  const events = () => timeline.read(UID).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  return { ...steps, told, run, events, records: () => timeline.read(UID) };
}

const sandbox = (state: "ready" | "notready") => ({
  id: "s",
  attempt: 0,
  state,
  createdAt: 0,
  hostNetwork: false,
  ips: [],
  runtimeHandler: "",
});

it("claims are prepared, with word of whether there is a sandbox, and given back", async () => {
  const { prepareClaims, unprepareClaims, told, run } = createRig();
  await prepareClaims(run());
  await prepareClaims(run([sandbox("notready")]));
  await prepareClaims(run([sandbox("ready")]));
  await unprepareClaims(run());
  const [before, within] = ["prepare before the sandbox", "prepare in a sandbox"];
  expect(told).toEqual([before, before, within, `unprepare ${UID}`]);
});

it("claims that are not ready are an event of the pod, which begins again", async () => {
  const { prepareClaims, run, events } = createRig(new Error("ResourceClaim gpu: not allocated"));
  await expect(prepareClaims(run())).rejects.toThrow(ClaimsNotReadyError);
  expect(events()).toEqual([
    "Warning FailedPrepareDynamicResources: Failed to prepare dynamic resources: prepare dynamic resources: ResourceClaim gpu: not allocated",
  ]);
});

it("claims that are ready before there is a sandbox are recorded, once, with the time that it took", async () => {
  const { prepareClaims, run, records } = createRig();
  const pod = { ...POD, spec: { ...POD.spec, resourceClaims: [{ name: "gpu" }] } };
  await prepareClaims({ ...run(), pod });
  await prepareClaims({ ...run(), pod });
  await prepareClaims({ ...run([sandbox("ready")]), pod });
  await prepareClaims(run());
  expect(records()).toMatchObject([{ reason: "ClaimsReady", tookMs: 1_500, count: 1 }]);
});

it("an abort is no event", async () => {
  const { prepareClaims, run, events } = createRig(new AbortedError());
  await expect(prepareClaims(run())).rejects.toThrow(AbortedError);
  expect(events()).toEqual([]);
});

it("a node without claims does nothing", () => {
  const { run } = createRig();
  const clock = createFakeClock();
  const steps = createClaimSteps({ clock, timeline: createTimeline(clock) });
  expect([steps.prepareClaims(run()), steps.unprepareClaims(run())]).toEqual([undefined, undefined]);
});
