import type { FieldError } from "../../../api/field-error.ts";
import type { IngressClassParametersReference } from "../../../api/gen/types.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import { forbidden, invalidEach, required, tooLong, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { validateDomainPrefixedPath } from "../batch/job-spec.ts";
import { defineKind, type KindRow } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { ingressKind, validateTypedReference } from "./ingress.ts";
import { networkPolicyKind } from "./network-policy.ts";

const MAX_CONTROLLER_BYTES = 250;

const ingressClassKind = defineKind({
  group: "networking.k8s.io",
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
  strategy: strategyOf("IngressClass", {
    generation: true,
    default({ spec }) {
      if (spec?.parameters) spec.parameters.scope ??= "Cluster";
    },
    validate({ spec = {} }) {
      const { controller = "", parameters } = spec;
      const path = "spec.controller";
      return [
        ...(controller.length > MAX_CONTROLLER_BYTES ? [tooLong(path, MAX_CONTROLLER_BYTES)] : []),
        ...validateDomainPrefixedPath(path, controller),
        ...(parameters ? validateParameters("spec.parameters", parameters) : []),
      ];
    },
    validateUpdate: (next, current) => {
      return immutable("spec.controller", next.spec?.controller, current.spec?.controller);
    },
  }),
});

function validateParameters(path: string, parameters: IngressClassParametersReference): FieldError[] {
  const { scope = "", namespace } = parameters;
  const errors = validateTypedReference(path, parameters);
  const at = `${path}.namespace`;
  if (scope === "Cluster") {
    return namespace === undefined ? errors : [...errors, forbidden(at, "`parameters.scope` is set to 'Cluster'")];
  }
  if (scope !== "Namespace") return [...errors, unsupported(`${path}.scope`, scope, ["Cluster", "Namespace"])];
  if (namespace === undefined) return [...errors, required(at, "`parameters.scope` is set to 'Namespace'")];
  return [...errors, ...invalidEach(at, namespace, checkDnsLabel(namespace))];
}

/**
 * Defines a kind for service ranges, for which controllers look. No objects can be created, because the range is an
 * option of the control plane.
 */
function defineServiceRange(row: Pick<KindRow, "kind" | "plural" | "shortNames" | "status">): ResourceKind {
  const refusal = "services get their addresses from the range that this control plane is started with";
  return defineKind({ ...row, group: "networking.k8s.io", namespaced: false, strategy: { refusal } });
}

/** The kinds of networking. All but the last two are stored, and programs of others act on them. */
export const NETWORKING_KINDS: readonly ResourceKind[] = [
  ingressKind,
  ingressClassKind,
  networkPolicyKind,
  defineServiceRange({ kind: "IPAddress", plural: "ipaddresses", shortNames: ["ip"] }),
  defineServiceRange({ kind: "ServiceCIDR", plural: "servicecidrs", status: true }),
];
