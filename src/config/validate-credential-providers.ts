import { fieldPath, showValue } from "../api/field-error.ts";
import { checkQualifiedName } from "../api/validation/names.ts";
import type { CredentialProvider, TokenAttributes } from "./credential-provider-config.ts";
import { formatDuration } from "./duration.ts";

/** The versions that requests and responses of a plugin may have. */
const API_VERSIONS = [
  "credentialprovider.kubelet.k8s.io/v1",
  "credentialprovider.kubelet.k8s.io/v1alpha1",
  "credentialprovider.kubelet.k8s.io/v1beta1",
];
const CACHE_TYPES = ["ServiceAccount", "Token"];

type Report = (path: string, message: string) => void;

/**
 * Returns what a Go kubelet refuses in a configuration of credential providers, in its words. `tokensAllowed` is the
 * feature gate KubeletServiceAccountTokenForCredentialProviders.
 */
export function validateCredentialProviders(
  providers: readonly CredentialProvider[],
  { tokensAllowed }: { readonly tokensAllowed: boolean },
): string[] {
  const errors: string[] = [];
  if (providers.length === 0) errors.push("providers: Required value: at least 1 item in plugins is required");
  for (const [index, provider] of providers.entries()) {
    const report: Report = (path, message) => errors.push(`${fieldPath("providers", path)}: ${message}`);
    validateName(provider.name, report);
    if (providers.findIndex(({ name }) => name === provider.name) < index) {
      report("name", `Duplicate value: ${showValue(provider.name)}`);
    }
    validateProvider(provider, report);
    if (provider.tokenAttributes !== undefined) {
      validateTokenAttributes(provider.apiVersion, provider.tokenAttributes, { report, tokensAllowed });
    }
  }
  return errors;
}

function validateName(name: string, report: Report): void {
  const refuse = (why: string) => report("name", `Invalid value: ${showValue(name)}: provider name cannot ${why}`);
  if (name.includes("/")) refuse("contain '/'");
  if (name.includes(" ")) refuse("contain spaces");
  if (name === "." || name === "..") refuse(`be '${name}'`);
}

function validateProvider({ apiVersion, matchImages, defaultCacheDuration }: CredentialProvider, report: Report): void {
  if (apiVersion === "") report("apiVersion", "Required value");
  else if (!API_VERSIONS.includes(apiVersion)) report("apiVersion", unsupported(apiVersion, API_VERSIONS));
  if (matchImages.length === 0) report("matchImages", "Required value: at least 1 item in matchImages is required");
  for (const pattern of matchImages) {
    const problem = findPatternProblem(pattern);
    if (problem === undefined) continue;
    report("matchImages", `Invalid value: ${showValue(pattern)}: match image is invalid: ${problem}`);
  }
  if (defaultCacheDuration === undefined) report("defaultCacheDuration", "Required value");
  else if (defaultCacheDuration < 0) {
    const shown = showValue(formatDuration(defaultCacheDuration));
    report("defaultCacheDuration", `Invalid value: ${shown}: must be greater than or equal to 0`);
  }
}

/** Returns what Go's URL parser refuses once `https://` stands before the pattern. */
function findPatternProblem(pattern: string): string | undefined {
  const host = /^[^/?#]*/.exec(pattern)?.[0] ?? "";
  const port = /:([^:\]]*)$/.exec(host.replace(/^\[[^\]]*\]/, "[]"))?.[1];
  const parse = `parse ${JSON.stringify(`https://${pattern}`)}`;
  if (/\p{Cc}/u.test(pattern)) return `${parse}: net/url: invalid control character in URL`;
  if (port !== undefined && !/^\d*$/.test(port)) {
    return `${parse}: invalid port ${JSON.stringify(`:${port}`)} after host`;
  }
  const character = /[ "<>\\^`{|}]/.exec(host)?.[0];
  if (character !== undefined) return `${parse}: invalid character ${JSON.stringify(character)} in host name`;
  const broken = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(pattern)?.[0];
  return broken === undefined ? undefined : `${parse}: invalid URL escape ${JSON.stringify(broken)}`;
}

function validateTokenAttributes(
  apiVersion: string,
  attributes: TokenAttributes,
  { report: reportField, tokensAllowed }: { report: Report; tokensAllowed: boolean },
): void {
  const report: Report = (path, message) =>
    reportField(path === "" ? "tokenAttributes" : `tokenAttributes.${path}`, message);
  const {
    requiredServiceAccountAnnotationKeys: required = [],
    optionalServiceAccountAnnotationKeys: optional = [],
    requireServiceAccount,
    cacheType,
  } = attributes;
  if (!tokensAllowed) {
    const gate = "KubeletServiceAccountTokenForCredentialProviders";
    report("", `Forbidden: tokenAttributes is not supported when ${gate} feature gate is disabled`);
  }
  if (attributes.serviceAccountTokenAudience === "") report("serviceAccountTokenAudience", "Required value");
  if (requireServiceAccount === undefined) report("requireServiceAccount", "Required value");
  if (apiVersion !== "credentialprovider.kubelet.k8s.io/v1") {
    report("", "Forbidden: tokenAttributes is only supported for credentialprovider.kubelet.k8s.io/v1 API version");
  }
  if (requireServiceAccount === false && required.length > 0) {
    const why = "requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set";
    report("requiredServiceAccountAnnotationKeys", `Forbidden: ${why}`);
  }
  validateAnnotationKeys("requiredServiceAccountAnnotationKeys", required, report);
  validateAnnotationKeys("optionalServiceAccountAnnotationKeys", optional, report);
  const both = [...new Set(required)].filter((key) => optional.includes(key)).toSorted();
  if (both.length > 0) {
    report("", `Invalid value: ${showValue(both)}: annotation keys cannot be both required and optional`);
  }
  if (cacheType === "") {
    const why = `cacheType is required to be set when tokenAttributes is specified. Supported values are: ${CACHE_TYPES.join(", ")}`;
    report("cacheType", `Required value: ${why}`);
  } else if (!CACHE_TYPES.includes(cacheType)) report("cacheType", unsupported(cacheType, CACHE_TYPES));
}

function validateAnnotationKeys(path: string, keys: readonly string[], report: Report): void {
  for (const [index, key] of keys.entries()) {
    for (const rule of checkQualifiedName(key.toLowerCase())) report(path, `Invalid value: ${showValue(key)}: ${rule}`);
    if (keys.indexOf(key) < index) report(path, `Duplicate value: ${showValue(key)}`);
  }
}

function unsupported(given: string, supported: readonly string[]): string {
  return `Unsupported value: ${showValue(given)}: supported values: ${supported.map(showValue).join(", ")}`;
}
