/**
 * The rules for names in Kubernetes. Each check returns what is wrong in kube-apiserver's words, and nothing when the
 * name is valid.
 */

const LABEL_63 = 63;
const SUBDOMAIN_253 = 253;

function pattern(rule: string, expression: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${rule} (e.g. ${shown}regex used for validation is '${expression}')`;
}

/** Upstream counts bytes. It calls them characters in DNS names and in the values that are checked like them. */
function atMost(text: string, max: number, unit: "bytes" | "characters" = "characters"): string[] {
  return Buffer.byteLength(text) > max ? [`must be no more than ${max} ${unit}`] : [];
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_LABEL_RULE = pattern(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
  ["my-name", "123-abc"],
);

/** The rule for names of namespaces, containers and volumes, and for hostnames. */
export function checkDnsLabel(text: string): string[] {
  const problems = atMost(text, LABEL_63);
  if (DNS_LABEL.test(text)) return problems;
  return [...problems, DNS_SUBDOMAIN.test(text) ? "must not contain dots" : DNS_LABEL_RULE];
}

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_SUBDOMAIN_RULE = pattern(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
  ["example.com"],
);

/** The rule for names of most objects, pods among them. */
export function checkDnsSubdomain(text: string): string[] {
  return [...atMost(text, SUBDOMAIN_253), ...(DNS_SUBDOMAIN.test(text) ? [] : [DNS_SUBDOMAIN_RULE])];
}

const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_LABEL_RULE = pattern(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  "[a-z]([-a-z0-9]*[a-z0-9])?",
  ["my-name", "abc-123"],
);

/**
 * The rule for names of services, which become names of environment variables, and for the versions, plurals and kinds
 * of resources.
 */
export function checkDns1035Label(text: string): string[] {
  return [...atMost(text, LABEL_63), ...(DNS_1035_LABEL.test(text) ? [] : [DNS_1035_LABEL_RULE])];
}

const WILDCARD_SUBDOMAIN = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD_SUBDOMAIN_RULE = pattern(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
  ["*.example.com"],
);

/** The rule for hosts of an ingress that stand for all names below a domain: `*.example.com`. */
export function checkWildcardSubdomain(text: string): string[] {
  const problems = atMost(text, SUBDOMAIN_253);
  return WILDCARD_SUBDOMAIN.test(text) ? problems : [...problems, WILDCARD_SUBDOMAIN_RULE];
}

const UNDERSCORED_SUBDOMAIN = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const UNDERSCORED_SUBDOMAIN_RULE = pattern(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*",
  ["example.com"],
);

/** The rule for search domains of a resolver, which may name services such as `_sip._tcp.example.com`. */
export function checkUnderscoredSubdomain(text: string): string[] {
  const problems = atMost(text, SUBDOMAIN_253);
  return UNDERSCORED_SUBDOMAIN.test(text) ? problems : [...problems, UNDERSCORED_SUBDOMAIN_RULE];
}

const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const QUALIFIED_NAME_RULE = pattern(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
  ["MyName", "my.name", "123-abc"],
);

/** The rule for keys of labels and annotations, and for names of resources and conditions: `name` or `domain/name`. */
export function checkQualifiedName(text: string): string[] {
  const parts = text.split("/");
  if (parts.length > 2) {
    const rule = `a valid label key ${QUALIFIED_NAME_RULE}`;
    return [`${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const problems: string[] = [];
  if (prefix === "") problems.push("prefix part must be non-empty");
  else if (prefix !== undefined) problems.push(...checkPrefix(prefix));
  if (name === "") problems.push("name part must be non-empty");
  else problems.push(...atMost(name, LABEL_63, "bytes").map((problem) => `name part ${problem}`));
  if (!QUALIFIED_NAME.test(name)) problems.push(`name part ${QUALIFIED_NAME_RULE}`);
  return problems;
}

function checkPrefix(prefix: string): string[] {
  const problems = atMost(prefix, SUBDOMAIN_253, "bytes");
  if (!DNS_SUBDOMAIN.test(prefix)) problems.push(DNS_SUBDOMAIN_RULE);
  return problems.map((problem) => `prefix part ${problem}`);
}

const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const LABEL_VALUE_RULE = pattern(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
  ["MyValue", "my_value", "12345"],
);

/** Returns what is wrong with the text as the value of a label; empty when nothing is. */
export function checkLabelValue(text: string): string[] {
  return [...atMost(text, LABEL_63, "bytes"), ...(LABEL_VALUE.test(text) ? [] : [LABEL_VALUE_RULE])];
}

/** A name may hold printable ASCII except `=`. */
export function checkEnvName(text: string): string[] {
  if (/^[ -<>-~]+$/.test(text)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** The rule for keys of config maps and secrets, which become file names. */
export function checkConfigMapKey(text: string): string[] {
  const problems = atMost(text, SUBDOMAIN_253);
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    problems.push(pattern(rule, "[-._a-zA-Z0-9]+", ["key.name", "KEY_NAME", "key-name"]));
  }
  if (text === ".") problems.push("must not be '.'");
  if (text === "..") problems.push("must not be '..'");
  else if (text.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

/** The rule for names of container ports (an IANA service name). */
export function checkPortName(text: string): string[] {
  const problems: string[] = [];
  if (text.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(text)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(text)) problems.push("must contain at least one letter (a-z)");
  if (text.includes("--")) problems.push("must not contain consecutive hyphens");
  if (text.startsWith("-") || text.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

/** Returns what is wrong with the text as the name of an HTTP header; empty when nothing is. */
export function checkHttpHeaderName(text: string): string[] {
  if (/^[-A-Za-z0-9]+$/.test(text)) return [];
  const rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
  return [pattern(rule, "[-A-Za-z0-9]+", ["X-Header-Name"])];
}

/** True for IPv4 without leading zeros, or IPv6 without a zone. */
export function isIpAddress(text: string): boolean {
  const isV4 =
    /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}$/.test(text) && !/(?:^|\.)0\d/.test(text) && !text.endsWith(".");
  return isV4 || (/^[0-9a-fA-F:.]+$/.test(text) && text.includes(":") && URL.canParse(`http://[${text}]/`));
}

/** The rule for a path below some directory: it is relative, and never leads up. */
export function checkLocalPath(text: string): string[] {
  return [...(text.startsWith("/") ? ["must be a relative path"] : []), ...checkNoBacksteps(text)];
}

/** Returns what is wrong with a path that must stay beneath its root; empty when nothing is. */
export function checkNoBacksteps(text: string): string[] {
  return text.split("/").includes("..") ? ["must not contain '..'"] : [];
}
