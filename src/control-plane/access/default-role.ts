import type { PolicyRule } from "../../api/gen/types.ts";

/** A cluster role of the default policy, with the subjects that it is bound to. */
export interface DefaultRole {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules?: readonly PolicyRule[];
  /** The labels, with the value "true", of the roles whose rules it combines. */
  readonly aggregates?: readonly string[];
  /** `Group/system:nodes`, `User/…`, `ServiceAccount/namespace/name`; absent where nothing binds it. */
  readonly subjects?: readonly string[];
}

/** A binding whose name differs from its role's. */
export interface DefaultBinding {
  readonly name: string;
  /** `Role/x`, `ClusterRole/x`. */
  readonly role: string;
  readonly subjects: readonly string[];
}

/** A role within a namespace. */
export interface DefaultNamespaceRole {
  readonly namespace: string;
  readonly role: { readonly name: string; readonly rules: readonly PolicyRule[] };
  readonly bindings: readonly DefaultBinding[];
}

/** The verbs of a reader. */
export const READ = "get list watch";
/** The verbs that change objects. */
export const WRITE = "create delete deletecollection patch update";

/**
 * Makes a rule: `rule("get list", "apps", "deployments replicasets")`. Words are separated by spaces; "" is the core
 * group.
 */
export function rule(verbs: string, groups: string, resources: string, names?: string): PolicyRule {
  return {
    verbs: verbs.split(" "),
    apiGroups: groups.split(" "),
    resources: resources.split(" "),
    ...(names !== undefined && { resourceNames: names.split(" ") }),
  };
}

/** Makes a rule for paths that are no resources. */
export function pathRule(verbs: string, paths: string): PolicyRule {
  return { verbs: verbs.split(" "), nonResourceURLs: paths.split(" ") };
}

/** The rule by which components record events, in either of the two groups. */
export const EVENTS_RULE: PolicyRule = rule("create patch update", " events.k8s.io", "events");
