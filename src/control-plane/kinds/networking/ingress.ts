import type { FieldError } from "../../../api/field-error.ts";
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from "../../../api/gen/types.ts";
import { isNew } from "../../../api/object.ts";
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkPortName,
  checkWildcardSubdomain,
  isIpAddress,
} from "../../../api/validation/names.ts";
import { each, inRange, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { checkPathSegment } from "../rules/path-segment.ts";
import { strategyOf } from "../typed-strategy.ts";

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const FORBIDDEN_IN_PATHS = ["//", "/./", "/../", "%2f", "%2F"];
const FORBIDDEN_AT_THE_END = ["/..", "/."];

export const ingressKind = defineKind({
  group: "networking.k8s.io",
  kind: "Ingress",
  plural: "ingresses",
  shortNames: ["ing"],
  status: true,
  strategy: strategyOf("Ingress", {
    generation: true,
    initialStatus: { loadBalancer: {} },
    validate: (ingress) => [
      ...validateSpec(ingress.spec ?? {}),
      ...(isNew(ingress) ? validateClassAnnotation(ingress) : []),
    ],
    warnings: (ingress) => (isNew(ingress) ? classWarnings(ingress) : []),
  }),
});

function classWarnings({ metadata }: Ingress): string[] {
  if (metadata?.annotations?.[CLASS_ANNOTATION] === undefined) return [];
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
}

function validateClassAnnotation({ metadata, spec }: Ingress): FieldError[] {
  const annotated = metadata?.annotations?.[CLASS_ANNOTATION];
  const { ingressClassName } = spec ?? {};
  if (annotated === undefined || ingressClassName === undefined || annotated === ingressClassName) return [];
  const detail = "must match `ingressClassName` when both are specified";
  return [invalid(`annotations.${CLASS_ANNOTATION}`, annotated, detail)];
}

function validateSpec({ rules = [], defaultBackend, tls, ingressClassName }: IngressSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (rules.length === 0 && !defaultBackend) {
    errors.push(invalid("spec", rules, "either `defaultBackend` or `rules` must be specified"));
  }
  if (defaultBackend) errors.push(...validateBackend("spec.defaultBackend", defaultBackend));
  errors.push(...each("spec.rules", rules, validateRule), ...each("spec.tls", tls, validateTls));
  if (ingressClassName === undefined) return errors;
  return [...errors, ...invalidEach("spec.ingressClassName", ingressClassName, checkDnsSubdomain(ingressClassName))];
}

function validateTls({ hosts, secretName = "" }: IngressTLS, path: string): FieldError[] {
  const errors = each(`${path}.hosts`, hosts, (host, at) => invalidEach(at, host, checkHost(host)));
  if (secretName === "") return errors;
  return [...errors, ...invalidEach(`${path}.secretName`, secretName, checkDnsSubdomain(secretName))];
}

function checkHost(host: string): string[] {
  return host.includes("*") ? checkWildcardSubdomain(host) : checkDnsSubdomain(host);
}

function validateRule({ host = "", http }: IngressRule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (isIpAddress(host)) errors.push(invalid(`${path}.host`, host, "must be a DNS name, not an IP address"));
  if (host !== "") errors.push(...invalidEach(`${path}.host`, host, checkHost(host)));
  if (!http) return errors;
  if (http.paths.length === 0) errors.push(required(`${path}.http.paths`));
  return [...errors, ...each(`${path}.http.paths`, http.paths, validatePath)];
}

function validatePath({ path: urlPath = "", pathType, backend }: HTTPIngressPath, path: string): FieldError[] {
  if (pathType === "") return [required(`${path}.pathType`, "pathType must be specified")];
  if (!PATH_TYPES.includes(pathType)) {
    return [unsupported(`${path}.pathType`, pathType, PATH_TYPES), ...validateBackend(`${path}.backend`, backend)];
  }
  const isFree = pathType === "ImplementationSpecific";
  const problems: string[] = [];
  if (!urlPath.startsWith("/") && !(isFree && urlPath === "")) problems.push("must be an absolute path");
  if (!isFree) {
    const contained = FORBIDDEN_IN_PATHS.filter((sequence) => urlPath.includes(sequence));
    const ending = FORBIDDEN_AT_THE_END.filter((suffix) => urlPath.endsWith(suffix));
    problems.push(...contained.map((sequence) => `must not contain '${sequence}'`));
    problems.push(...ending.map((suffix) => `cannot end with '${suffix}'`));
  }
  return [...invalidEach(`${path}.path`, urlPath, problems), ...validateBackend(`${path}.backend`, backend)];
}

function validateBackend(path: string, { resource, service }: IngressBackend): FieldError[] {
  if (resource && service) return [invalid(path, "", "cannot set both resource and service backends")];
  if (service) return validateService(path, service);
  if (resource) return validateTypedReference(`${path}.resource`, resource);
  return [invalid(path, "", "resource or service backend is required")];
}

function validateService(path: string, { name, port = {} }: IngressServiceBackend): FieldError[] {
  const errors =
    name === "" ? [required(`${path}.service.name`)] : invalidEach(`${path}.service.name`, name, checkDnsLabel(name));
  if (port.name && port.number) return [...errors, invalid(path, "", "cannot set both port name & port number")];
  if (port.name) return [...errors, ...invalidEach(`${path}.service.port.name`, port.name, checkPortName(port.name))];
  if (port.number) return [...errors, ...inRange(`${path}.service.port.number`, port.number, [1, 65535])];
  return [...errors, required(path, "port name or number is required")];
}

/** The problems of a reference to an object of any kind. */
export function validateTypedReference(
  path: string,
  { apiGroup, kind, name }: { apiGroup?: string; kind: string; name: string },
): FieldError[] {
  const errors = apiGroup === undefined ? [] : invalidEach(`${path}.apiGroup`, apiGroup, checkDnsSubdomain(apiGroup));
  for (const [field, text] of Object.entries({ kind, name })) {
    if (text === "") errors.push(required(`${path}.${field}`, `${field} is required`));
    else errors.push(...invalidEach(`${path}.${field}`, text, checkPathSegment(text)));
  }
  return errors;
}
