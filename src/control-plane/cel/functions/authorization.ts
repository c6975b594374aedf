import { member, type Overload, objectArg, stringArg } from "../overload.ts";
import * as types from "../types.ts";
import { type CelValue, failure } from "../values.ts";

const { BOOL, STRING } = types;
/** The type of `authorizer`. */
export const AUTHORIZER = types.opaqueType("kubernetes.authorization.Authorizer");
const PATH_CHECK = types.opaqueType("kubernetes.authorization.PathCheck");
const GROUP_CHECK = types.opaqueType("kubernetes.authorization.GroupCheck");
/** The type of `authorizer.requestResource`. */
export const RESOURCE_CHECK = types.opaqueType("kubernetes.authorization.ResourceCheck");
const DECISION = types.opaqueType("kubernetes.authorization.Decision");

/** Two checks are all that an expression can pay for, as upstream has it. */
const CHECK_COST = 350_000;

const resourceArg = (value: CelValue | undefined) => objectArg("resourceCheck", value);

/** Sets one attribute of a check of a resource. */
function refine(name: "subresource" | "namespace" | "name" | "fieldSelector"): Overload {
  return member(name, [[RESOURCE_CHECK, STRING], RESOURCE_CHECK], ([value, text]) => {
    const { authorizer, check } = resourceArg(value);
    return { kind: "resourceCheck", authorizer, check: { ...check, [name]: stringArg(text) } };
  });
}

/** Kubernetes' authorizer, of which a rule may ask what somebody may do. */
export const AUTHORIZATION_FUNCTIONS: readonly Overload[] = [
  member("path", [[AUTHORIZER, STRING], PATH_CHECK], ([authorizer, path]) => {
    if (stringArg(path) === "") return failure("path must not be empty");
    return { kind: "pathCheck", authorizer: objectArg("authorizer", authorizer), path: stringArg(path) };
  }),
  member("group", [[AUTHORIZER, STRING], GROUP_CHECK], ([authorizer, group]) => {
    return { kind: "groupCheck", authorizer: objectArg("authorizer", authorizer), group: stringArg(group) };
  }),
  member("serviceAccount", [[AUTHORIZER, STRING, STRING], AUTHORIZER], ([authorizer, namespace, name]) => {
    return objectArg("authorizer", authorizer).forAccount(stringArg(namespace), stringArg(name));
  }),
  member("resource", [[GROUP_CHECK, STRING], RESOURCE_CHECK], ([value, resource]) => {
    const { authorizer, group } = objectArg("groupCheck", value);
    const check = { group, resource: stringArg(resource), subresource: "", namespace: "", name: "" };
    return { kind: "resourceCheck", authorizer, check };
  }),
  refine("subresource"),
  refine("namespace"),
  refine("name"),
  refine("fieldSelector"),
  // Neither RBAC nor the node authorizer decides by labels, here as in kube-apiserver.
  member("labelSelector", [[RESOURCE_CHECK, STRING], RESOURCE_CHECK], ([value]) => resourceArg(value)),
  member(
    "check",
    [[PATH_CHECK, STRING], DECISION],
    ([value, verb]) => {
      const { authorizer, path } = objectArg("pathCheck", value);
      const none = { group: "", resource: "", subresource: "", namespace: "", name: "" };
      return { kind: "decision", answer: authorizer.decide({ ...none, path, verb: stringArg(verb) }) };
    },
    () => CHECK_COST,
  ),
  member(
    "check",
    [[RESOURCE_CHECK, STRING], DECISION],
    ([value, verb]) => {
      const { authorizer, check } = resourceArg(value);
      return { kind: "decision", answer: authorizer.decide({ ...check, verb: stringArg(verb) }) };
    },
    () => CHECK_COST,
  ),
  member("allowed", [[DECISION], BOOL], ([value]) => objectArg("decision", value).answer.allowed),
  member("reason", [[DECISION], STRING], ([value]) => objectArg("decision", value).answer.reason),
  member("errored", [[DECISION], BOOL], () => false),
  member("error", [[DECISION], STRING], () => ""),
];
