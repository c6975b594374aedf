import { decodeTyped, type FieldTables } from "../../api/decode.ts";
import { type FieldError, formatFieldError } from "../../api/field-error.ts";
import { isRecord } from "../../api/object.ts";
import { checkDnsSubdomain } from "../../api/validation/names.ts";
import { each, invalid, required, unsupported } from "../../api/validation/problems.ts";
import { parseYaml } from "../../api/yaml.ts";
import { CodedError } from "../../base/errors.ts";

/** How much is recorded of a request: nothing, who asked for what, also what was sent, also what was answered. */
export type AuditLevel = "None" | "Metadata" | "Request" | "RequestResponse";

/** The moments at which an event of a request may be written. */
export type AuditStage = "RequestReceived" | "ResponseStarted" | "ResponseComplete" | "Panic";

/** A rule of a policy (`audit.k8s.io/v1`). What it does not name, it does not ask for. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: ReadonlyArray<{
    readonly group: string;
    readonly resources: readonly string[];
    readonly resourceNames: readonly string[];
  }>;
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** Which requests are recorded, and how much of them: the first rule that fits a request counts, else nothing is. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
}

const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
const STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
const API_VERSION = "audit.k8s.io/v1";

const TABLES: FieldTables = {
  Policy: {
    apiVersion: "string",
    kind: "string",
    metadata: "raw",
    rules: "[]PolicyRule",
    omitStages: "[]string",
    omitManagedFields: "boolean",
  },
  PolicyRule: {
    level: "string",
    users: "[]string",
    userGroups: "[]string",
    verbs: "[]string",
    resources: "[]GroupResources",
    namespaces: "[]string",
    nonResourceURLs: "[]string",
    omitStages: "[]string",
    omitManagedFields: "boolean",
  },
  GroupResources: { group: "string", resources: "[]string", resourceNames: "[]string" },
};

/**
 * Reads the policy of a file. Throws a CodedError, `audit-policy-invalid`, that names the file, each field that is wrong
 * and what it must be: an unknown field is wrong, too.
 */
export function readAuditPolicy(text: string, path: string): AuditPolicy {
  const fail = (why: string): never => {
    throw new CodedError("audit-policy-invalid", `the audit policy ${path} cannot be used: ${why}`);
  };
  const [document, second] = parseYaml(text);
  if (document === undefined) return fail("it is empty");
  if (second !== undefined) return fail("it has more than one document");
  const unread = [...document.errors, ...document.warnings];
  if (unread.length > 0) return fail(unread.join(", "));
  const sent = document.value;
  if (!isRecord(sent)) return fail(`it must be an object of kind Policy of ${API_VERSION}`);
  const { apiVersion = "", kind = "" } = sent;
  if (apiVersion !== API_VERSION || kind !== "Policy") {
    return fail(`it must be of kind Policy of ${API_VERSION}, and is "${String(kind)}" of "${String(apiVersion)}"`);
  }
  const { value, errors, warnings } = decodeTyped({ tables: TABLES, type: "Policy" }, sent);
  const wrong = [...errors, ...warnings];
  if (wrong.length > 0 || !isRecord(value)) return fail(wrong.map(formatFieldError).join(", "));
  const problems = validatePolicy(value);
  if (problems.length > 0) return fail(problems.map(formatFieldError).join(", "));
  return policyOf(value);
}

type Fields = Readonly<Record<string, unknown>>;

const recordsIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const textsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
const isLevel = (text: unknown): text is AuditLevel => LEVELS.some((level) => level === text);
const isStage = (text: string): text is AuditStage => STAGES.some((stage) => stage === text);

function policyOf(policy: Fields): AuditPolicy {
  const everywhere = textsIn(policy["omitStages"]);
  const rules = recordsIn(policy["rules"]).map((rule): AuditRule => {
    const own = rule["omitManagedFields"] ?? policy["omitManagedFields"];
    return {
      level: isLevel(rule["level"]) ? rule["level"] : "None",
      users: textsIn(rule["users"]),
      userGroups: textsIn(rule["userGroups"]),
      verbs: textsIn(rule["verbs"]),
      resources: recordsIn(rule["resources"]).map(({ group, resources, resourceNames }) => ({
        group: typeof group === "string" ? group : "",
        resources: textsIn(resources),
        resourceNames: textsIn(resourceNames),
      })),
      namespaces: textsIn(rule["namespaces"]),
      nonResourceURLs: textsIn(rule["nonResourceURLs"]),
      omitStages: [...new Set([...textsIn(rule["omitStages"]), ...everywhere])].filter(isStage),
      omitManagedFields: own === true,
    };
  });
  return { rules };
}

function validatePolicy(policy: Fields): FieldError[] {
  const rules = recordsIn(policy["rules"]);
  return [
    ...checkStages("omitStages", policy["omitStages"]),
    ...(rules.length === 0 ? [required("rules", "a policy without rules records nothing")] : []),
    ...each("rules", [...rules], checkRule),
  ];
}

function checkRule(rule: Fields, path: string): FieldError[] {
  const { level = "", nonResourceURLs, resources, namespaces, omitStages } = rule;
  const urls = textsIn(nonResourceURLs);
  const isMixed = urls.length > 0 && (recordsIn(resources).length > 0 || textsIn(namespaces).length > 0);
  return [
    ...(level === "" ? [required(`${path}.level`)] : []),
    ...(level === "" || isLevel(level) ? [] : [unsupported(`${path}.level`, String(level), [...LEVELS])]),
    ...each(`${path}.nonResourceURLs`, [...urls], checkUrl),
    ...each(`${path}.resources`, [...recordsIn(resources)], checkResources),
    ...checkStages(`${path}.omitStages`, omitStages),
    ...(isMixed
      ? [invalid(`${path}.nonResourceURLs`, urls, "rules cannot apply to both regular resources and non-resource URLs")]
      : []),
  ];
}

function checkUrl(url: string, path: string): FieldError[] {
  if (url === "*") return [];
  const errors: FieldError[] = [];
  if (!url.startsWith("/")) {
    errors.push(invalid(path, url, "non-resource URL rules must begin with a '/' character"));
  }
  if (url.slice(0, -1).includes("*")) {
    errors.push(invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  }
  return errors;
}

function checkResources({ group = "", resources, resourceNames }: Fields, path: string): FieldError[] {
  const problems = group === "" || group === "*" ? [] : checkDnsSubdomain(String(group));
  const names = textsIn(resourceNames);
  return [
    ...(problems.length > 0 ? [invalid(`${path}.group`, group, problems.join(","))] : []),
    ...(names.length > 0 && textsIn(resources).length === 0
      ? [invalid(`${path}.resourceNames`, names, "using resourceNames requires at least one resource")]
      : []),
  ];
}

function checkStages(path: string, stages: unknown): FieldError[] {
  return each(path, [...textsIn(stages)], (stage, at) =>
    isStage(stage) ? [] : [invalid(at, stage, `allowed stages are ${STAGES.join(",")}`)],
  );
}
