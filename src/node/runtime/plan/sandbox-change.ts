import type { Pod } from "../../../api/gen/types.ts";
import { isHostNetworkPod } from "../../../api/pods.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import type { KillReason } from "./pod-actions.ts";

export interface SandboxChange {
  reason: KillReason;
  /** The attempt number of the sandbox to make. */
  attempt: number;
}

/** Why the pod needs another sandbox than its newest one; undefined where that one fits. */
export function computeSandboxChange(pod: Pod, status: PodRuntimeStatus): SandboxChange | undefined {
  const reason = reasonForChange(pod, status);
  if (reason === undefined) return undefined;
  // The runtime refuses a second sandbox of one name and attempt, so a number is never used twice.
  const attempt = status.sandboxes.reduce((next, sandbox) => Math.max(next, sandbox.attempt + 1), 0);
  return { reason, attempt };
}

function reasonForChange(pod: Pod, status: PodRuntimeStatus): KillReason | undefined {
  const newest = status.sandboxes[0];
  if (newest === undefined) return "sandbox-missing";
  if (status.sandboxes.filter((sandbox) => sandbox.state === "ready").length > 1) return "several-sandboxes";
  if (newest.state !== "ready") return "sandbox-not-ready";
  if (newest.hostNetwork !== isHostNetworkPod(pod)) return "sandbox-network-changed";
  if (!newest.hostNetwork && newest.ips.length === 0) return "sandbox-without-address";
  return undefined;
}
