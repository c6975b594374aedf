import { typed } from "../../api/object.ts";
import { isMirrorPod } from "../../api/pods.ts";
import type { Decision } from "../../base/timeline.ts";
import { DELETION_REQUESTED } from "../../explain/pod-decisions.ts";
import type { Deletion } from "../ports/deletion.ts";

/** A longer name of a user or a program is cut: whoever sends it chooses it. */
const MAX_NAME_LENGTH = 256;

/**
 * Says in a pod's timeline who asked for its end, by which program and why, and who removed it afterwards; undefined for
 * what is no pod of its own.
 */
export function describeDeletion(deletion: Deletion): Decision | undefined {
  const { resource, object, user, userAgent, cause, gracePeriodSeconds, isGone } = deletion;
  if (resource !== "pods" || isMirrorPod(typed("Pod", object))) return undefined;
  const program = userAgent === undefined || userAgent === "" ? "" : ` with ${cut(userAgent)}`;
  const author = `${cut(user.username)}${program}`;
  const why = cause === undefined ? "" : `: ${cause}`;
  if (object.metadata.deletionTimestamp !== undefined && isGone) {
    return { type: "Normal", reason: "RemovedFromApi", message: `The pod's object was removed by ${author}${why}` };
  }
  const within = isGone ? "at once" : `within ${gracePeriodSeconds} s`;
  const message = `The pod's end was asked for by ${author}, ${within}${why}`;
  return { type: "Normal", reason: DELETION_REQUESTED, message };
}

function cut(text: string): string {
  return text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH)}…` : text;
}
