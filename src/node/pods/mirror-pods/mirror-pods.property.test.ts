import fc from "fast-check";
import { expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../../api/well-known.ts";
import { createMirrorRig, type Fault, staticPod } from "./__fixtures__/mirror-rig.ts";

type Rig = ReturnType<typeof createMirrorRig>;
const NAMES = ["a", "b"] as const;

const act = fc.constantFrom<(rig: Rig, name: string) => void>(
  (rig, name) => void rig.staticPods.set(`${name}_kube-system`, staticPod(name, `${name}1`)),
  (rig, name) => void rig.staticPods.set(`${name}_kube-system`, staticPod(name, `${name}2`)),
  (rig, name) => void rig.staticPods.delete(`${name}_kube-system`),
  (rig, name) => void rig.ending.add(`${name}_kube-system`),
  (rig, name) => void rig.ending.delete(`${name}_kube-system`),
  (rig, name) => rig.mark(name),
  (rig, name) => rig.purge(name),
);

const happenings = fc.array(
  fc.record({ name: fc.constantFrom(...NAMES), act, thenMs: fc.constantFrom(0, 1, 6, 12, 100, 5_000, 40_000) }),
  { maxLength: 40 },
);

const faults = fc.array(
  fc.constantFrom<Fault | undefined>(
    undefined,
    undefined,
    "lost",
    "unheard",
    new ApiError("InternalError", "etcdserver: request timed out"),
  ),
  { maxLength: 20 },
);

it("whatever happens, in the end each static pod has its mirror and there are no others", async () => {
  await fc.assert(
    fc.asyncProperty(happenings, faults, fc.constantFrom(1, 20, 3_000), async (drawn, drawnFaults, watchDelayMs) => {
      const rig = createMirrorRig();
      rig.watchDelayMs = watchDelayMs;
      const pending = [...drawnFaults];
      rig.fault = () => pending.shift();
      const run = rig.run();
      for (const { name, act: happen, thenMs } of drawn) {
        happen(rig, name);
        rig.update();
        await rig.clock.advance(thenMs);
      }
      rig.fault = () => undefined;
      rig.ending.clear();
      rig.update();
      await rig.clock.advance(200_000);
      for (const name of NAMES) {
        const wanted = rig.staticPods.get(`${name}_kube-system`)?.metadata?.uid;
        expect(rig.get(name)?.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION]).toBe(wanted);
        expect(rig.get(name)?.metadata?.deletionTimestamp).toBeUndefined();
      }
      expect(rig.violations).toEqual([]);
      const asked = rig.requests.length;
      await rig.clock.advance(600_000);
      expect(rig.requests).toHaveLength(asked);
      rig.stop();
      await run;
      expect(rig.clock.pendingTimers).toBe(0);
    }),
    { numRuns: 300 },
  );
});
