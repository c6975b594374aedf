/**
 * Generates from `schema/openapi-1.36-structure.json`: `src/api/gen/types.ts` (TypeScript interfaces of every definition
 * that a served or read kind reaches), `src/api/gen/schema.ts` (the field tables that `src/api/decode.ts` walks, only
 * for the kinds that clients read) and `src/api/gen/served-schema.ts` (the same for every kind that the control plane
 * serves, with the rules of how lists and maps merge). From `schema/protobuf-fields.json`: `src/api/gen/protobuf-fields.ts`;
 * from `schema/omitted-when-zero.json`, the fields that upstream's types leave out when they are zero or empty (`omitempty`,
 * and no pointer): `src/api/gen/omitted-fields.ts`.
 * Run with `npm run gen`; the result is committed.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: string;
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
}

/** Groups at the version that is served whole; another gives no more than `ROOTS` names of it. */
const SERVED_GROUPS = [
  "admissionregistration.v1",
  "apps.v1",
  "authentication.v1",
  "authorization.v1",
  "autoscaling.v1",
  "autoscaling.v2",
  "batch.v1",
  "certificates.v1",
  "coordination.v1",
  "core.v1",
  "discovery.v1",
  "events.v1",
  "flowcontrol.v1",
  "networking.v1",
  "node.v1",
  "policy.v1",
  "rbac.v1",
  "resource.v1",
  "scheduling.v1",
  "storage.v1",
];
const ROOTS = [
  ...SERVED_GROUPS.map((group) => new RegExp(`^io\\.k8s\\.api\\.${group.replaceAll(".", "\\.")}\\.`)),
  /^io\.k8s\.api\.certificates\.v1beta1\.(ClusterTrustBundle|PodCertificateRequest)/,
  /^io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\./,
  /^io\.k8s\.apiextensions-apiserver\.pkg\.apis\.apiextensions\.v1\./,
  /^io\.k8s\.kube-aggregator\.pkg\.apis\.apiregistration\.v1\./,
];
/**
 * What a client of the API reads (`src/api/kube-resource.ts`), and what `src/api/decode.ts` decodes; the field tables load at
 * every start, so name no kind that is not needed.
 */
const READ_KINDS = [
  ...["ConfigMap", "Event", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod"].map(inCore),
  ...["Secret", "Service", "ServiceAccount"].map(inCore),
  ...["authentication.v1.TokenRequest", "authentication.v1.TokenReview", "authorization.v1.SubjectAccessReview"],
  ...["batch.v1.CronJob", "batch.v1.Job", "certificates.v1.CertificateSigningRequest"],
  ...["certificates.v1beta1.PodCertificateRequest", "coordination.v1.Lease", "discovery.v1.EndpointSlice"],
  ...["networking.v1.NetworkPolicy", "node.v1.RuntimeClass", "resource.v1.ResourceClaim", "resource.v1.ResourceSlice"],
  ...["storage.v1.CSIDriver", "storage.v1.CSINode", "storage.v1.VolumeAttachment"],
].map((name) => `io.k8s.api.${name}`);
const SCALARS: Record<string, string> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "string",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "string | number",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "string",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "string",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "Record<string, unknown>",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "Record<string, unknown>",
};

function inCore(kind: string): string {
  return `core.v1.${kind}`;
}

function readFacts<Facts>(name: string): Facts {
  return JSON.parse(readFileSync(`schema/${name}.json`, "utf8")) as Facts;
}

const { definitions } = readFacts<{ definitions: Record<string, Schema> }>("openapi-1.36-structure");

const lastPart = (key: string) => key.slice(key.lastIndexOf(".") + 1);
const keyOf = (ref: string) => ref.slice("#/definitions/".length);

/**
 * The last part of a definition's key, with its group before it where core or another group has that name already, and
 * with its version after it where a newer version of its group has it. Flow control yields to all others: it has a
 * `Subject` beside that of RBAC.
 */
function nameOf(key: string): string {
  const own = lastPart(key);
  return names.get(key) ?? own;
}

function nameDefinitions(keys: string[]): Map<string, string> {
  const taken = new Map<string, string>();
  const isCore = (key: string) => key.startsWith("io.k8s.api.core.v1.");
  const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  const rankOf = (key: string) => (isCore(key) ? 0 : key.startsWith("io.k8s.api.flowcontrol.") ? 2 : 1);
  const newestFirst = keys.toSorted((a, b) => rankOf(a) - rankOf(b) || majorOf(b) - majorOf(a));
  for (const key of newestFirst) {
    const own = lastPart(key);
    const [group = "", version = ""] = key.split(".").slice(-3);
    const isTwin = (other: string) => lastPart(other) === own && other.split(".").at(-3) === group;
    const isFree = ![...taken.values()].includes(own);
    const other = [...taken.keys()].some(isTwin) ? `${own}${capitalized(version)}` : `${capitalized(group)}${own}`;
    taken.set(key, isFree ? own : other);
  }
  return taken;
}

/** The number of a definition's version: 2 of `io.k8s.api.autoscaling.v2.MetricSpec`; 0 where it has none. */
function majorOf(key: string): number {
  return Number(/^v(\d+)/.exec(key.split(".").at(-2) ?? "")?.[1] ?? 0);
}

function reachable(roots: string[]): string[] {
  const seen = new Set<string>();
  const visit = (key: string) => {
    if (seen.has(key)) return;
    seen.add(key);
    for (const [, ref] of JSON.stringify(definitions[key]).matchAll(/"\$ref":"([^"]+)"/g)) visit(keyOf(ref ?? ""));
  };
  for (const key of roots) visit(key);
  return [...seen].sort((a, b) => lastPart(a).localeCompare(lastPart(b)));
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(keyOf(schema.$ref));
  if (schema.type === "array") {
    const item = typeOf(schema.items ?? {});
    return item.includes(" ") ? `Array<${item}>` : `${item}[]`;
  }
  if (schema.additionalProperties) return `Record<string, ${typeOf(schema.additionalProperties)}>`;
  if (schema.type === "object") return "Record<string, unknown>";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "string" || schema.type === "boolean") return schema.type;
  return "unknown";
}

function declare(key: string): string {
  const name = nameOf(key);
  const schema = definitions[key] ?? {};
  if (SCALARS[key]) return `export type ${name} = ${SCALARS[key]};\n`;
  if (!schema.properties) return `export type ${name} = ${typeOf(schema)};\n`;
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([field, type]) => {
    const quoted = /^[A-Za-z_]\w*$/.test(field) ? field : JSON.stringify(field);
    return `  ${quoted}${required.has(field) ? "" : "?"}: ${typeOf(type)};`;
  });
  return `export interface ${name} {\n${fields.join("\n")}\n}\n`;
}

/** A field's type in the table's words: `Pod`, `int32`, `[]Container`, `{}Quantity`. */
function tableTypeOf(schema: Schema): string {
  if (schema.$ref) return tableTypeOfDefinition(keyOf(schema.$ref));
  if (schema.type === "array") return `[]${tableTypeOf(schema.items ?? {})}`;
  if (schema.additionalProperties) return `{}${tableTypeOf(schema.additionalProperties)}`;
  if (schema.type === "integer") return schema.format ?? "int64";
  if (schema.type === "number") return "double";
  if (schema.type === "string") return schema.format === "byte" ? "bytes" : "string";
  return schema.type ?? "raw";
}

function tableTypeOfDefinition(key: string): string {
  const schema = definitions[key] ?? {};
  if (schema.properties) return nameOf(key);
  if (SCALARS[key]) return SCALARS[key] === "Record<string, unknown>" ? "raw" : nameOf(key);
  return schema.type === "object" ? "raw" : tableTypeOf(schema);
}

function tableOf(key: string): string {
  const { properties = {}, required = [] } = definitions[key] ?? {};
  const fields = Object.entries(properties).map(([field, schema]) => {
    const mark = required.includes(field) ? "!" : "";
    return `${/^[A-Za-z_]\w*$/.test(field) ? field : JSON.stringify(field)}: "${tableTypeOf(schema)}${mark}"`;
  });
  return `  ${nameOf(key)}: { ${fields.join(", ")} },\n`;
}

/** How a list or map merges; undefined where it is simply replaced (a list) or merged (a map). */
function mergeRuleOf(schema: Schema): string | undefined {
  const rule = {
    list: schema["x-kubernetes-list-type"],
    keys: schema["x-kubernetes-list-map-keys"],
    map: schema["x-kubernetes-map-type"],
    patch: schema["x-kubernetes-patch-strategy"],
    mergeKey: schema["x-kubernetes-patch-merge-key"],
  };
  const text = JSON.stringify(rule);
  return text === "{}" ? undefined : text;
}

function mergeRulesOf(key: string): string {
  const { properties = {} } = definitions[key] ?? {};
  const fields = Object.entries(properties).flatMap(([field, schema]) => {
    const rule = mergeRuleOf(schema);
    return rule ? [`${JSON.stringify(field)}: ${rule}`] : [];
  });
  return fields.length === 0 ? "" : `  ${nameOf(key)}: { ${fields.join(", ")} },\n`;
}

function writeServedSchema(keys: string[]): void {
  const tables = keys.filter((key) => definitions[key]?.properties);
  const atomic = tables.filter((key) => definitions[key]?.["x-kubernetes-map-type"] === "atomic");
  const text = [
    banner,
    'import type { MergeRule } from "../merge-rule.ts";\n\n',
    "/** Fields by type name, in the grammar of `schema.ts`. */\n",
    `export const SERVED_SCHEMA: Readonly<Record<string, Readonly<Record<string, string>>>> = {\n`,
    ...tables.map(tableOf),
    "};\n\n/** By type name and field: how a list or a map merges, where it is not simply replaced (merged, if a map). */\n",
    "export const MERGE_RULES: Readonly<Record<string, Readonly<Record<string, MergeRule>>>> = {\n",
    ...tables.map(mergeRulesOf),
    "};\n\n/** Types that are one value to server-side apply: owned and replaced as a whole. */\n",
    `export const ATOMIC_TYPES: ReadonlySet<string> = new Set(${JSON.stringify(atomic.map(nameOf))});\n`,
    "\n/** A type's name in OpenAPI documents. */\n",
    `export const DEFINITION_NAMES: Readonly<Record<string, string>> = {\n`,
    ...tables.map((key) => `  ${nameOf(key)}: ${JSON.stringify(key)},\n`),
    "};\n",
  ];
  writeFileSync("src/api/gen/served-schema.ts", text.join(""));
}

const banner = "// Generated by scripts/gen-api.ts from schema/openapi-1.36-structure.json. Do not edit.\n\n";
const roots = Object.keys(definitions).filter((key) => ROOTS.some((root) => root.test(key)));
const names = nameDefinitions(reachable(roots));
writeFileSync("src/api/gen/types.ts", banner + reachable(roots).map(declare).join("\n"));
writeServedSchema(reachable(roots));

const tables = reachable(READ_KINDS).filter((key) => definitions[key]?.properties);
const grammar = `/**
 * Fields by type name. A field is a scalar (string, boolean, int32, int64, double, bytes, raw, Quantity, IntOrString,
 * Time, MicroTime) or another type of this table; [] before it makes it a list, {} a map; ! after it: always present on
 * the wire.
 */
`;
const open = "export const SCHEMA: Readonly<Record<string, Readonly<Record<string, string>>>> = {\n";
writeFileSync("src/api/gen/schema.ts", `${banner}${grammar}${open}${tables.map(tableOf).join("")}};\n`);

const { messages } = readFacts<{ messages: Record<string, string> }>("protobuf-fields");
const omitted = readFacts<Record<string, string>>("omitted-when-zero");
const SCALAR_MESSAGES = new Set(["string", "boolean", "int32", "int64", "double"]);

const packageOf = (name: string) => name.split(".").slice(-3, -1).join(".");
/** Other packages are not in that file: what their types leave out is not known. */
const knownPackages = new Set(Object.keys(omitted).map(packageOf));
const omittedByMessage = new Map(
  Object.entries(omitted).map(([key, fields]) => [key.split(".").slice(-3).join("."), new Set(fields.split(" "))]),
);

/** `name=1:string!`: JSON has the field although it is empty. */
function markRequired(message: string, row: string): string {
  if (!knownPackages.has(packageOf(message))) return row;
  const marked = row.split(" ").map((field) => {
    const [, name = "", type = ""] = /^(.+?)=\d+:(.+)$/.exec(field) ?? [];
    const isOmitted = omittedByMessage.get(message)?.has(name) === true;
    return SCALAR_MESSAGES.has(type) && !isOmitted ? `${field}!` : field;
  });
  return marked.join(" ");
}

const protobufRows = Object.entries(messages).map(
  ([name, row]) => `  ${JSON.stringify(name)}: ${JSON.stringify(markRequired(name, row))},\n`,
);
writeFileSync(
  "src/api/gen/protobuf-fields.ts",
  [
    banner.replace("openapi-1.36-structure", "protobuf-fields"),
    "/**\n * Fields of messages by group, version and type: `name=number:type`. `*` after it: a pointer in Go, whose zero is a value and not\n",
    " * absence; `!`: JSON has it although it is zero; `~` as the name: a message whose fields are the parent's; [] and {} before a type: a list, a map; `Items:`\n * before it: a message that holds a list of it.\n */\n",
    "export const PROTOBUF_FIELDS: Readonly<Record<string, string>> = {\n",
    ...protobufRows,
    "};\n",
  ].join(""),
);

const omittedRows = reachable(roots).flatMap((key) => {
  const fields = omitted[key];
  return fields === undefined ? [] : [`  ${nameOf(key)}: ${JSON.stringify(fields)},\n`];
});
writeFileSync(
  "src/api/gen/omitted-fields.ts",
  [
    banner.replace("openapi-1.36-structure", "omitted-when-zero"),
    "/** By type name of `SERVED_SCHEMA`: the fields that are left out when they are zero or empty, with spaces between. */\n",
    "export const OMITTED_FIELDS: Readonly<Record<string, string>> = {\n",
    ...omittedRows,
    "};\n",
  ].join(""),
);
