import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../../api/field-error.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  WebhookConversion,
} from "../../api/gen/types.ts";
import { checkDns1035Label, checkDnsSubdomain } from "../../api/validation/names.ts";
import { each, forbidden, invalid, invalidEach, oneOf, required } from "../../api/validation/problems.ts";
import { validateWebhookClient } from "../../api/validation/webhook-client.ts";
import { APPROVAL_ANNOTATION, readApproval } from "./crd-approval.ts";
import { hasValidBundle, isEstablished } from "./crd-status.ts";
import { checkRuleCosts } from "./rule-costs.ts";
import { validateVersion } from "./version-rules.ts";

/** The problems that kube-apiserver would find in a CRD, metadata apart. */
export function validateCrd(crd: CustomResourceDefinition): FieldError[] {
  const { spec, status, metadata = {} } = crd;
  return [
    ...checkName(metadata.name ?? "", spec),
    ...checkGroup(spec.group),
    ...oneOf("spec.scope", spec.scope, ["Cluster", "Namespaced"]),
    ...checkRequiredNames(spec.names),
    ...validateNames(spec.names, "spec.names"),
    ...checkVersions(spec),
    ...checkConversion(spec),
    ...checkPreservation(spec),
    ...checkApproval(crd),
    ...(status?.acceptedNames ? validateNames(status.acceptedNames, "status.acceptedNames") : []),
    ...checkStoredVersions(crd),
  ];
}

/** Refused changes: those of group and plural, and, once the CRD is served, those of scope and kind, and to no bundle. */
export function validateCrdUpdate(next: CustomResourceDefinition, current: CustomResourceDefinition): FieldError[] {
  const fixed: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["spec.group", next.spec.group, current.spec.group],
    ["spec.names.plural", next.spec.names.plural, current.spec.names.plural],
  ];
  const established: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["spec.scope", next.spec.scope, current.spec.scope],
    ["spec.names.kind", next.spec.names.kind, current.spec.names.kind],
  ];
  return [...fixed, ...(isEstablished(current) ? established : [])]
    .filter(([, value, old]) => value !== old)
    .map(([path, value]) => invalid(path, value, "field is immutable"))
    .concat(isEstablished(current) && hasValidBundle(current) && !hasValidBundle(next) ? [invalidBundle(next)] : [])
    .concat(checkCosts(next, current));
}

/** The rules that may cost too much. Those of a schema that stays as it is were let in before, maybe by other limits. */
export function checkCosts({ spec }: CustomResourceDefinition, current?: CustomResourceDefinition): FieldError[] {
  const before = new Map(current?.spec.versions.map(({ name, schema }) => [name, schema]));
  const errors = each("spec.versions", spec.versions, ({ name, schema }, path) => {
    const root = schema?.openAPIV3Schema;
    if (root === undefined || isDeepStrictEqual(schema, before.get(name))) return [];
    return checkRuleCosts(root, `${path}.schema.openAPIV3Schema`);
  });
  return movedToTheTop(errors, spec.versions);
}

function invalidBundle({ spec }: CustomResourceDefinition): FieldError {
  const problem = "unable to load root certificates: unable to parse bytes as PEM block";
  const { caBundle } = spec.conversion?.webhook?.clientConfig ?? {};
  return invalid("spec.conversion.webhookClientConfig.caBundle", caBundle, problem);
}

function checkName(name: string, { names, group }: CustomResourceDefinitionSpec): FieldError[] {
  if (name === `${names.plural}.${group}`) return [];
  return [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function checkGroup(group: string): FieldError[] {
  if (group === "") return [required("spec.group")];
  const problems = checkDnsSubdomain(group);
  if (problems.length > 0) return [invalid("spec.group", group, problems.join(","))];
  return group.includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function checkRequiredNames(names: CustomResourceDefinitionNames): FieldError[] {
  const { plural, singular, kind, listKind } = names;
  return Object.entries({ plural, singular, kind, listKind })
    .filter(([, value]) => value === undefined || value === "")
    .map(([name]) => required(`spec.names.${name}`));
}

function validateNames(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const { plural, singular = "", kind, listKind = "", shortNames, categories } = names;
  const label = (at: string, value: string) => {
    const problems = value === "" ? [] : checkDns1035Label(value);
    return problems.length === 0 ? [] : [invalid(at, value, problems.join(","))];
  };
  const kindLabel = (at: string, value: string) => {
    const problems = value === "" ? [] : checkDns1035Label(value.toLowerCase());
    const rule = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
    return problems.length === 0 ? [] : [invalid(at, value, rule)];
  };
  const isAmbiguous = kind !== "" && kind === listKind;
  return [
    ...label(`${path}.plural`, plural),
    ...label(`${path}.singular`, singular),
    ...kindLabel(`${path}.kind`, kind),
    ...kindLabel(`${path}.listKind`, listKind),
    ...each(`${path}.shortNames`, shortNames, (name, at) => label(at, name)),
    ...(isAmbiguous ? [invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same")] : []),
    ...each(`${path}.categories`, categories, (name, at) => label(at, name)),
  ];
}

function checkVersions(spec: CustomResourceDefinitionSpec): FieldError[] {
  const { versions } = spec;
  const names = versions.map(({ name }) => name);
  const errors = movedToTheTop(each("spec.versions", versions, validateVersion), versions);
  if (new Set(names).size < names.length) {
    errors.push(invalid("spec.versions", names, "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid("spec.versions", names, "must have exactly one version marked as storage version"));
  }
  return errors;
}

/** The fields of a version, with the place at which upstream keeps a field that all versions have alike. */
const SHARED = {
  schema: "spec.validation",
  subresources: "spec.subresources",
  additionalPrinterColumns: "spec.additionalPrinterColumns",
  selectableFields: "spec.selectableFields",
} as const;

/** A problem that all versions share is told once, at the path of the older, common field, as upstream. */
function movedToTheTop(
  errors: readonly FieldError[],
  versions: readonly CustomResourceDefinitionVersion[],
): FieldError[] {
  const [first, ...others] = versions;
  const isShared = (field: keyof typeof SHARED) => {
    // A missing schema is told of each version.
    if (field === "schema" && first?.schema?.openAPIV3Schema === undefined) return false;
    return first?.[field] !== undefined && others.every((other) => isDeepStrictEqual(other[field], first[field]));
  };
  const fields = Object.keys(SHARED).filter((field): field is keyof typeof SHARED => field in SHARED);
  const shared = new Set(fields.filter(isShared));
  return errors.flatMap((error) => {
    const [, index, field = "", rest = ""] = /^spec\.versions\[(\d+)\]\.(\w+)(.*)$/s.exec(error.path) ?? [];
    const moved = [...shared].find((name) => name === field);
    if (moved === undefined) return [error];
    const message = error.message.replaceAll(`spec.versions[0].${moved}`, SHARED[moved]);
    return index === "0" ? [{ ...error, path: SHARED[moved] + rest, message }] : [];
  });
}

/** The versions of ConversionReview that kube-apiserver speaks, and this one. */
const REVIEW_VERSIONS = ["v1", "v1beta1"];

function checkConversion({ conversion }: CustomResourceDefinitionSpec): FieldError[] {
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  const path = "spec.conversion";
  const errors = oneOf(`${path}.strategy`, strategy, ["None", "Webhook"]);
  if (strategy === "Webhook") return [...errors, ...checkWebhook(webhook)];
  const unasked = "should not be set when strategy is not set to Webhook";
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  return [
    ...errors,
    ...(clientConfig ? [forbidden(`${path}.webhookClientConfig`, unasked)] : []),
    ...(conversionReviewVersions.length > 0 ? [forbidden(`${path}.conversionReviewVersions`, unasked)] : []),
  ];
}

/** The paths are those of the older form of definitions, as upstream tells them. */
function checkWebhook({ clientConfig, conversionReviewVersions: versions = [] }: Partial<WebhookConversion> = {}) {
  const path = "spec.conversion.conversionReviewVersions";
  const place = "spec.conversion.webhookClientConfig";
  const errors = clientConfig
    ? validateWebhookClient(place, clientConfig)
    : [required(place, "required when strategy is set to Webhook")];
  if (versions.length === 0) return [...errors, required(path)];
  const seen = new Set<string>();
  errors.push(
    ...each(path, versions, (version, at) => {
      if (seen.size === seen.add(version).size) return [invalid(at, version, "duplicate version")];
      return invalidEach(at, version, checkDns1035Label(version));
    }),
  );
  if (versions.some((version) => REVIEW_VERSIONS.includes(version))) return errors;
  return [...errors, invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`)];
}

function checkPreservation({ preserveUnknownFields }: CustomResourceDefinitionSpec): FieldError[] {
  if (preserveUnknownFields !== true) return [];
  const problem =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalid("spec.preserveUnknownFields", true, problem)];
}

/** The groups of the Kubernetes project need a link to the review of their API. */
function checkApproval(crd: CustomResourceDefinition): FieldError[] {
  const approval = readApproval(crd);
  const path = `metadata.annotations[${APPROVAL_ANNOTATION}]`;
  if (approval?.state === "missing") return [required(path, approval.message)];
  if (approval?.state !== "invalid") return [];
  return [invalid(path, crd.metadata?.annotations?.[APPROVAL_ANNOTATION], approval.message)];
}

/** A version in which objects may be stored cannot be removed. */
function checkStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const known = new Set(spec.versions.map(({ name }) => name));
  const path = "status.storedVersions";
  const missing = stored.flatMap((name, index) => {
    if (known.has(name)) return [];
    const problem = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalid(`${path}[${index}]`, name, problem)];
  });
  const storage = spec.versions.filter((version) => version.storage && !stored.includes(version.name));
  const unlisted = storage.map(({ name }) => invalid(path, stored, `must have the storage version ${name}`));
  return stored.length === 0
    ? [invalid(path, stored, "must have at least one stored version")]
    : [...unlisted, ...missing];
}
