import type { PolicyRule, RoleRef } from "../../api/gen/types.ts";
import type { AccessAttributes, AccessDecision, Authorize } from "../ports/request.ts";
import type { ResourceFeed } from "../ports/resources.ts";
import { nodeNameOfUser, type User } from "../ports/user.ts";
import { createNodeAuthorizer } from "./node-authorizer.ts";
import { createPolicyIndex, type Grant, type PolicyIndex, RBAC_GROUP } from "./policy-index.ts";
import { ruleAllows } from "./rule-match.ts";

const SUPERUSERS = "system:masters";

/** The rules that a user holds in a namespace, as far as they can be listed. */
interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** The reasons why the list may be incomplete: a role that is gone, or a node's rights, which no rules describe. */
  readonly problems: readonly string[];
}

/** Decides which user may do what. */
export interface Authorizer {
  /**
   * Allows everything to `system:masters`, then to a node what its pods need, then to every user what the bound roles
   * allow.
   */
  readonly authorize: Authorize;
  /** The rules that RBAC grants the user in the namespace, cluster-wide grants included. */
  rulesFor(user: User, namespace: string): HeldRules;
  /** The rules of a role that a binding of the namespace ("" for a cluster role binding) refers to. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
  /** Stops following changes. */
  close(): void;
}

/** Keeps the policy that the feed tells in memory, so that a decision is a few lookups. */
export function createAuthorizer({ feed }: { feed: ResourceFeed }): Authorizer {
  const index = createPolicyIndex(feed);
  const nodes = createNodeAuthorizer(feed);
  return {
    authorize(attributes) {
      if (attributes.user.groups.includes(SUPERUSERS)) return { allowed: true, reason: "" };
      const asNode = nodes.authorize(attributes);
      if (asNode.allowed) return asNode;
      const byRole = authorizeByRole(index, attributes);
      if (byRole.allowed) return byRole;
      const reasons = [asNode.reason, byRole.reason].filter((reason) => reason !== "");
      return { allowed: false, reason: reasons.join("\n") };
    },
    rulesFor(user, namespace) {
      const held = collectRules(index, user, namespace);
      if (nodeNameOfUser(user) === undefined) return held;
      return { ...held, problems: ["node authorizer does not support user rule resolution", ...held.problems] };
    },
    rulesOf: (roleRef, namespace) => index.rulesOf(roleRef, namespace),
    close() {
      index.close();
      nodes.close();
    },
  };
}

function authorizeByRole(index: PolicyIndex, attributes: AccessAttributes): AccessDecision {
  const namespace = "path" in attributes ? "" : attributes.namespace;
  const missing: string[] = [];
  const refused = new Set<readonly PolicyRule[]>();
  let granted: Grant | undefined;
  index.visitGrants(attributes.user, namespace, (grant) => {
    const rules = index.rulesOf(grant.roleRef, grant.namespace);
    if (rules === undefined) missing.push(describeMissing(grant.roleRef));
    // A role may be bound many times, and its rules are looked at once.
    else if (!refused.has(rules) && rules.some((rule) => ruleAllows(rule, attributes))) granted = grant;
    else refused.add(rules);
    return granted !== undefined;
  });
  if (granted !== undefined) return { allowed: true, reason: `RBAC: allowed by ${describeGrant(granted)}` };
  return { allowed: false, reason: missing.length === 0 ? "" : `RBAC: ${formatResolutionErrors(missing)}` };
}

function collectRules(index: PolicyIndex, user: User, namespace: string): HeldRules {
  const roles = new Set<readonly PolicyRule[]>();
  const problems: string[] = [];
  index.visitGrants(user, namespace, ({ roleRef, namespace: place }) => {
    const rules = index.rulesOf(roleRef, place);
    if (rules === undefined) problems.push(describeMissing(roleRef));
    else roles.add(rules);
    return false;
  });
  return { rules: [...roles].flat(), problems };
}

/** Describes a role that does not exist: `clusterrole.rbac.authorization.k8s.io "x" not found`. */
function describeMissing({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.${RBAC_GROUP} "${name}" not found`;
}

/** Formats the problems like Go's aggregate of errors: each once, in brackets when there are several. */
export function formatResolutionErrors(problems: readonly string[]): string {
  const unique = [...new Set(problems)];
  return unique.length === 1 ? unique.join() : `[${unique.join(", ")}]`;
}

function describeGrant({ binding, name, namespace, roleRef, subject }: Grant): string {
  const place = namespace === "" ? name : `${name}/${namespace}`;
  const account = `${subject.name}/${subject.namespace || namespace}`;
  const who = subject.kind === "ServiceAccount" ? account : subject.name;
  return `${binding} "${place}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}
