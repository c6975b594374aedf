import { expect, it } from "vitest";
import type { VerdictChange } from "./pod-probes.ts";
import { wakeOnVerdict } from "./wake-on-verdict.ts";

it("wakes a pod's worker for all verdicts but readiness", () => {
  const woken: string[] = [];
  let tell: (change: VerdictChange) => void = () => {};
  const subscribe = (listener: (change: VerdictChange) => void) => {
    tell = listener;
    return () => void woken.push("stopped");
  };
  const stop = wakeOnVerdict({ subscribe }, (uid) => void woken.push(uid));
  for (const kind of ["startup", "readiness", "liveness"] as const) {
    tell({ pod: { metadata: { uid: kind }, spec: { containers: [] } }, phase: "syncing", kind });
  }
  stop();
  expect(woken).toEqual(["startup", "liveness", "stopped"]);
});
