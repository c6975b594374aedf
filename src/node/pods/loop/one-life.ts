import type { Pod } from "../../../api/gen/types.ts";
import { sourceOf } from "../../../api/pods.ts";

/**
 * Whether what was told of a pod stays told when its worker has left. The API server's pods have one life under their UID:
 * one that was refused, whose containers of before are gone now, shows them as they ended. A static pod may begin anew.
 */
export function isToldOnce(pod: Pod | undefined): boolean {
  return pod !== undefined && sourceOf(pod) === "api" && pod.metadata?.deletionTimestamp === undefined;
}
