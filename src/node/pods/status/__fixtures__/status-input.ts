import type { Pod } from "../../../../api/gen/types.ts";
import type { PodRuntimeStatus } from "../../../runtime/reading/pod-runtime-status.ts";
import type { PodStatusInput } from "../pod-status-input.ts";

export const NOW = Date.parse("2026-01-01T00:00:30Z");

/** The input of a pod that is being synced, with nothing special about it. */
export function makeStatusInput(
  pod: Pod,
  runtime: PodRuntimeStatus,
  overrides: Partial<PodStatusInput> = {},
): PodStatusInput {
  return {
    pod,
    runtime,
    waiting: new Map(),
    hostIps: ["192.0.2.2"],
    now: NOW,
    runtimeName: "containerd",
    workerPhase: "syncing",
    ...overrides,
  };
}
