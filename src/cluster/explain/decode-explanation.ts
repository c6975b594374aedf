import { CodedError } from "../../base/errors.ts";
import type { NodeExplanation } from "../../explain/explain-node.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { DECISIONS_GROUP, DECISIONS_VERSION, type PodDecisions } from "../../explain/pod-decisions.ts";

/**
 * Checks the shape of a node's answer. Throws `bad-explanation` for that of another program: a node agent of another
 * version, or a kubelet that knows no such path.
 */
export function decodePodExplanation(value: unknown): PodExplanation {
  if (isPodExplanation(value)) return value;
  throw refuse();
}

/** Does the same for the explanation of a node. */
export function decodeNodeExplanation(value: unknown): NodeExplanation {
  if (isNodeExplanation(value)) return value;
  throw refuse();
}

/** Checks the shape of the control plane's answer. Throws as the others do. */
export function decodePodDecisions(value: unknown): PodDecisions {
  if (isPodDecisions(value)) return value;
  throw refuse();
}

function refuse(): CodedError<"bad-explanation"> {
  const message = "the answer is no explanation of this version: is it a nodelet of the same version?";
  return new CodedError("bad-explanation", message);
}

function isPodExplanation(value: unknown): value is PodExplanation {
  if (!isFields(value) || value["kind"] !== "PodExplanation" || value["version"] !== 1) return false;
  const { pod, waits, ends, steps, gaps } = value;
  return isFields(pod) && [waits, ends, steps, gaps].every(Array.isArray);
}

function isPodDecisions(value: unknown): value is PodDecisions {
  if (!isFields(value) || value["kind"] !== "PodDecisions") return false;
  const { apiVersion, steps, gaps } = value;
  return apiVersion === `${DECISIONS_GROUP}/${DECISIONS_VERSION}` && [steps, gaps].every(Array.isArray);
}

function isNodeExplanation(value: unknown): value is NodeExplanation {
  if (!isFields(value) || value["kind"] !== "NodeExplanation" || value["version"] !== 1) return false;
  const { conditions, troubles } = value;
  return Array.isArray(conditions) && Array.isArray(troubles) && troubles.every(isPodExplanation);
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
