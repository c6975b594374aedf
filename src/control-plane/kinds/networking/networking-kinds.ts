import type { FieldError } from "../../../api/field-error.ts";
import type { IngressClassParametersReference } from "../../../api/gen/types.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import { forbidden, invalidEach, required, tooLong, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { validateDomainPrefixedPath } from "../batch/job-spec.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { ingressKind, validateTypedReference } from "./ingress.ts";
import { networkPolicyKind } from "./network-policy.ts";
import { ipAddressKind, serviceCidrKind } from "./service-ranges.ts";

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

/** The kinds of networking. Ingresses are for programs of others. */
export const NETWORKING_KINDS: readonly ResourceKind[] = [
  ingressKind,
  ingressClassKind,
  networkPolicyKind,
  ipAddressKind,
  serviceCidrKind,
];
