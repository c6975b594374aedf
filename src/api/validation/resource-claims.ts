import type { FieldError } from "../field-error.ts";
import type { Pod, PodResourceClaim, ResourceClaim } from "../gen/types.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../well-known.ts";
import { checkDnsLabel, checkDnsSubdomain } from "./names.ts";
import { duplicate, each, forbidden, invalid, invalidEach, notFound, required } from "./problems.ts";

/** Validates the pod's claims of devices: each has a name of its own, and says which claim or template it is. */
export function validateResourceClaims(path: string, { metadata, spec }: Pod): FieldError[] {
  const names = new Set<string>();
  const isMirror = metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
  return each(path, spec?.resourceClaims, (claim, at) => {
    if (isMirror) return [forbidden("", "static pods do not support resource claims")];
    const errors = [...validateName(`${at}.name`, claim.name, names), ...validateSource(at, claim)];
    names.add(claim.name);
    return errors;
  });
}

function validateName(path: string, name: string, names: ReadonlySet<string>): FieldError[] {
  if (name === "") return [required(path)];
  return names.has(name) ? [duplicate(path, name)] : invalidEach(path, name, checkDnsLabel(name));
}

function validateSource(path: string, claim: PodResourceClaim): FieldError[] {
  const sources = (["resourceClaimName", "resourceClaimTemplateName"] as const).flatMap((field) => {
    const name = claim[field];
    return name === undefined ? [] : [{ field, name }];
  });
  const [tooMany, tooFew] = [
    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
    "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
  ];
  return [
    ...(sources.length > 1 ? [invalid(path, claim, tooMany)] : []),
    ...(sources.length < 1 ? [invalid(path, claim, tooFew)] : []),
    ...sources.flatMap(({ field, name }) => invalidEach(`${path}.${field}`, name, checkDnsSubdomain(name))),
  ];
}

/**
 * Validates which of the pod's claims, or of their requests, a container uses. A claim that is used as a whole is not
 * used in parts, too.
 */
export function validateClaimReferences(
  path: string,
  references: readonly ResourceClaim[] | undefined,
  claims: ReadonlySet<string>,
): FieldError[] {
  const seen = new Set<string>();
  const known = claims.size === 0 ? " which is empty" : `: ${[...claims].sort().join(", ")}`;
  const rule = `must be one of the names in pod.spec.resourceClaims${known}`;
  return each(path, references, ({ name, request = "" }, at) => {
    if (name === "") return [required(at)];
    const key = request === "" ? name : `${name}/${request}`;
    const isPartOf = request === "" && [...seen].some((other) => other.startsWith(`${name}/`));
    const repeated = seen.has(name) ? name : seen.has(key) || isPartOf ? key : undefined;
    const errors = [
      ...(request === "" || seen.has(name) ? [] : invalidEach(`${at}.request`, request, checkDnsLabel(request))),
      ...(repeated === undefined ? [] : [duplicate(at, repeated)]),
      ...(claims.has(name) ? [] : [notFound(at, name, rule)]),
    ];
    if (repeated === undefined) seen.add(key);
    return errors;
  });
}
