import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Subresource, Verb } from "../ports/resource-kind.ts";

/** What can be done with a part of an object. */
export const PART_VERBS: readonly Verb[] = ["get", "patch", "update"];

/** What may be asked of a proxied server, as discovery lists it. */
const PROXY_VERBS: readonly Verb[] = ["create", "delete", "get", "patch", "update"];

/** A subresource of the core group that has a handler of its own. */
export function coreSubresource(name: string, kind: string, verbs: readonly Verb[]): Subresource {
  return { name, group: "", version: "v1", kind, verbs };
}

/** `proxy`: the object as an HTTP server. */
export function proxySubresource(kind: string): Subresource {
  return coreSubresource("proxy", kind, PROXY_VERBS);
}

/** `scale`: the number of replicas, whatever the kind calls it. */
export const SCALE_SUBRESOURCE: Subresource = {
  name: "scale",
  group: "autoscaling",
  version: "v1",
  kind: "Scale",
  verbs: PART_VERBS,
};

/**
 * `status`, of which a kind checks what is written there. All but the spec may change: upstream lets whoever may write a
 * status set labels and annotations in the same call, and kubelets do.
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
