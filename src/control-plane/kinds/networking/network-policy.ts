import type { FieldError } from "../../../api/field-error.ts";
import type { IPBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from "../../../api/gen/types.ts";
import { checkCidr, contains, parseCidr } from "../../../api/validation/ip-address.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkPortName } from "../../../api/validation/names.ts";
import {
  each,
  forbidden,
  inRange,
  invalid,
  invalidEach,
  optionalOneOf,
  required,
  unsupported,
} from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";

const POLICY_TYPES = ["Ingress", "Egress"];

export const networkPolicyKind = defineKind({
  group: "networking.k8s.io",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  shortNames: ["netpol"],
  strategy: strategyOf("NetworkPolicy", {
    generation: true,
    default(draft) {
      draft.spec ??= {};
      const { spec } = draft;
      spec.podSelector ??= {};
      for (const { ports = [] } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
        for (const port of ports) port.protocol ??= "TCP";
      }
      if ((spec.policyTypes ?? []).length > 0) return;
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    },
    validate: ({ spec }) => validateSpec(spec ?? {}),
  }),
});

function validateSpec({ podSelector, ingress, egress, policyTypes = [] }: NetworkPolicySpec): FieldError[] {
  const errors = [
    ...validateLabelSelector("spec.podSelector", podSelector),
    ...each("spec.ingress", ingress, ({ ports, from }, path) => [
      ...each(`${path}.ports`, ports, validatePort),
      ...each(`${path}.from`, from, validatePeer),
    ]),
    ...each("spec.egress", egress, ({ ports, to }, path) => [
      ...each(`${path}.ports`, ports, validatePort),
      ...each(`${path}.to`, to, validatePeer),
    ]),
  ];
  if (policyTypes.length > POLICY_TYPES.length) {
    return [...errors, invalid("spec.policyTypes", policyTypes, "may not specify more than two policyTypes")];
  }
  const types = each("spec.policyTypes", policyTypes, (type, path) => {
    return POLICY_TYPES.includes(type) ? [] : [unsupported(path, type, POLICY_TYPES)];
  });
  return [...errors, ...types];
}

function validatePort({ port, endPort, protocol }: NetworkPolicyPort, path: string): FieldError[] {
  const errors = optionalOneOf(`${path}.protocol`, protocol, ["TCP", "UDP", "SCTP"]);
  if (typeof port === "number") {
    errors.push(...inRange(`${path}.port`, port, [1, 65535]), ...inRange(`${path}.endPort`, endPort, [1, 65535]));
    if (endPort !== undefined && endPort < port) {
      errors.push(invalid(`${path}.endPort`, port, "must be greater than or equal to `port`"));
    }
    return errors;
  }
  if (endPort !== undefined) {
    const why = port === undefined ? "`port` is not specified" : "`port` is non-numeric";
    errors.push(invalid(`${path}.endPort`, endPort, `may not be specified when ${why}`));
  }
  return port === undefined ? errors : [...errors, ...invalidEach(`${path}.port`, port, checkPortName(port))];
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, path: string): FieldError[] {
  if (!podSelector && !namespaceSelector && !ipBlock) return [required(path, "must specify a peer")];
  const errors = [
    ...validateLabelSelector(`${path}.podSelector`, podSelector),
    ...validateLabelSelector(`${path}.namespaceSelector`, namespaceSelector),
    ...(ipBlock ? validateBlock(`${path}.ipBlock`, ipBlock) : []),
  ];
  if (ipBlock && (podSelector || namespaceSelector)) {
    errors.push(forbidden(path, "may not specify both ipBlock and another peer"));
  }
  return errors;
}

function validateBlock(path: string, { cidr, except }: IPBlock): FieldError[] {
  if (cidr === "") return [required(`${path}.cidr`)];
  const range = parseCidr(cidr);
  if (range === undefined) return invalidEach(`${path}.cidr`, cidr, checkCidr(cidr));
  return each(`${path}.except`, except, (excluded, at) => {
    const inner = parseCidr(excluded);
    if (inner === undefined) return invalidEach(at, excluded, checkCidr(excluded));
    const [address = ""] = excluded.split("/");
    const isInside = contains(cidr, address) && inner.size < range.size;
    return isInside ? [] : [invalid(at, excluded, "must be a strict subset of `cidr`")];
  });
}
