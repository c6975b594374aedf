import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Subresource, Verb } from "../ports/resource-kind.ts";

/** The verbs of a subresource that is a part of an object. */
export const PART_VERBS: readonly Verb[] = ["get", "patch", "update"];

/** The verbs of a proxied server, as discovery lists them. */
const PROXY_VERBS: readonly Verb[] = ["create", "delete", "get", "patch", "update"];

/** A subresource of the core group that has a handler of its own. */
export function coreSubresource(name: string, kind: string, verbs: readonly Verb[]): Subresource {
  return { name, group: "", version: "v1", kind, verbs };
}

/** The subresource `proxy`, which leads to the object as an HTTP server. */
export function proxySubresource(kind: string): Subresource {
  return coreSubresource("proxy", kind, PROXY_VERBS);
}

/** The subresource `scale`, which is the number of replicas under a name that all kinds share. */
export const SCALE_SUBRESOURCE: Subresource = {
  name: "scale",
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  verbs: PART_VERBS,
};

/**
 * The subresource `status` of a kind that checks it. Everything but the spec may change: upstream lets a writer of the
 * status set labels and annotations in the same call, and kubelets do so.
 */
export function statusSubresource(
  kind: string,
  validateUpdate: (next: KubeObject, current: KubeObject) => FieldError[],
): Subresource {
  return { ...coreSubresource("status", kind, PART_VERBS), take: takeAllButSpec, validateUpdate };
}

/** The new object with the old spec. */
export function takeAllButSpec(next: KubeObject, current: KubeObject): KubeObject {
  const { spec: _refused, ...taken } = next;
  return current["spec"] === undefined
    ? withHeader(taken, next)
    : withHeader({ ...taken, spec: current["spec"] }, next);
}

function withHeader(fields: Record<string, unknown>, { apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { ...fields, apiVersion, kind, metadata };
}
