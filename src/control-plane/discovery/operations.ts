import type { ResourceKind, Subresource, Verb } from "../ports/resource-kind.ts";
import { type GroupVersionKind, groupPathOf } from "./api-table.ts";
import { definitionOf, listDefinitionOf, META } from "./definitions.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";

/** An operation at a path, before it is written in a dialect. */
export interface Operation {
  readonly path: string;
  readonly method: Method;
  /** The action in upstream's words: list, get, post, put, patch, delete, deletecollection, connect. */
  readonly action: string;
  /** `readCoreV1NamespacedPod`: generators of clients name their methods after it. */
  readonly id: string;
  readonly tag: string;
  readonly kind: GroupVersionKind;
  /** The definition of the body; undefined where there is none. */
  readonly body: string | undefined;
  /** The definition of the answer; undefined for text and streams. */
  readonly response: string | undefined;
  readonly parameters: readonly Parameter[];
  /** Strategic merge patches are understood. */
  readonly strategicMerge: boolean;
}

/** A parameter of the path or the query. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly type: "string" | "boolean" | "integer";
  readonly description: string;
}

/** Every operation on the kind and its subresources. */
export function listOperations(kind: ResourceKind): Operation[] {
  const subresources = kind.subresources.flatMap((subresource) => subresourceOperations(kind, subresource));
  return [...collectionOperations(kind), ...objectOperations(kind), ...subresources];
}

function collectionOperations(kind: ResourceKind): Operation[] {
  const { definition } = kind.schema;
  const list = listDefinitionOf(kind);
  const operations: Operation[] = [];
  const at = (path: string, rest: Described) => operations.push(describe(kind, path, rest));
  if (kind.verbs.includes("list")) at("", { verb: "list", response: list });
  if (kind.verbs.includes("create")) at("", { verb: "create", body: definition, response: definition });
  if (kind.verbs.includes("deletecollection")) {
    at("", { verb: "deletecollection", body: META.deleteOptions, response: META.status });
  }
  if (kind.namespaced && kind.verbs.includes("list")) {
    const name = `list${idGroup(kind)}${kind.kind}ForAllNamespaces`;
    const everywhere = describe({ ...kind, namespaced: false }, "", { verb: "list", response: list });
    operations.push({ ...everywhere, id: name });
  }
  return operations;
}

function objectOperations(kind: ResourceKind): Operation[] {
  const { definition } = kind.schema;
  const bodies: ReadonlyArray<readonly [Verb, string | undefined, string]> = [
    ["get", undefined, definition],
    ["update", definition, definition],
    ["patch", META.patch, definition],
    ["delete", META.deleteOptions, META.status],
  ];
  return bodies
    .filter(([verb]) => kind.verbs.includes(verb))
    .map(([verb, body, response]) => describe(kind, "/{name}", { verb, body, response }));
}

function subresourceOperations(kind: ResourceKind, subresource: Subresource): Operation[] {
  const definition = definitionOf(kind, subresource);
  return subresource.verbs
    .filter((verb) => METHODS[verb] !== undefined)
    .map((verb) => {
      const sent = verb === "patch" ? META.patch : definition;
      return describe(kind, `/{name}/${subresource.name}`, {
        verb,
        body: verb === "get" || verb === "delete" ? undefined : sent,
        response: definition,
        subresource,
      });
    });
}

interface Described {
  readonly verb: Verb;
  readonly body?: string | undefined;
  readonly response: string | undefined;
  readonly subresource?: Subresource;
}

const METHODS: Readonly<Partial<Record<Verb, readonly [Method, action: string, idVerb: string]>>> = {
  list: ["get", "list", "list"],
  get: ["get", "get", "read"],
  create: ["post", "post", "create"],
  update: ["put", "put", "replace"],
  patch: ["patch", "patch", "patch"],
  delete: ["delete", "delete", "delete"],
  deletecollection: ["delete", "deletecollection", "delete"],
};

function describe(kind: ResourceKind, suffix: string, { verb, body, response, subresource }: Described): Operation {
  const [method, action, idVerb] = METHODS[verb] ?? ["get", "get", "read"];
  const scope = kind.namespaced ? "namespaces/{namespace}/" : "";
  const path = `/${groupPathOf(kind)}/${scope}${kind.plural}${suffix}`;
  const isStream = subresource !== undefined && response === undefined;
  const subject = subresource ?? kind;
  return {
    path,
    method,
    action: isStream ? "connect" : action,
    id: operationId(kind, {
      idVerb: isStream ? "connect" : idVerb,
      infix: isStream ? capitalize(method) : verb === "deletecollection" ? "Collection" : "",
      suffix: capitalize(subresource?.name ?? ""),
    }),
    tag: tagOf(kind),
    kind: { group: subject.group, version: subject.version, kind: subject.kind },
    body: isStream ? undefined : body,
    response,
    parameters: [...pathParameters(path, kind), ...(isStream ? [] : (QUERY_PARAMETERS[action] ?? [])), PRETTY],
    strategicMerge: kind.schema.strategicMerge,
  };
}

interface IdParts {
  readonly idVerb: string;
  readonly infix: string;
  readonly suffix: string;
}

/** `deleteCoreV1CollectionNamespacedPod`, `connectCoreV1GetNamespacedPodExec`. */
function operationId(kind: ResourceKind, { idVerb, infix, suffix }: IdParts): string {
  return `${idVerb}${idGroup(kind)}${infix}${kind.namespaced ? "Namespaced" : ""}${kind.kind}${suffix}`;
}

/** `core_v1`, `rbacAuthorization_v1`. */
function tagOf(kind: ResourceKind): string {
  const group = idGroup({ ...kind, version: "" });
  return `${group.replace(/^./, (first) => first.toLowerCase())}_${kind.version}`;
}

/** `CoreV1`, `RbacAuthorizationV1`, `StableExampleComV1`. */
function idGroup({ group, version }: ResourceKind): string {
  const words = group === "" ? ["core"] : group.replace(/\.k8s\.io$/, "").split(/[.-]/);
  return `${words.map(capitalize).join("")}${capitalize(version)}`;
}

const capitalize = (text: string) => text.replace(/^./, (first) => first.toUpperCase());

function pathParameters(path: string, { kind }: ResourceKind): Parameter[] {
  const parameters: Parameter[] = [];
  if (path.includes("{name}")) {
    parameters.push({ name: "name", in: "path", type: "string", description: `The name of the ${kind}.` });
  }
  if (path.includes("{namespace}")) {
    parameters.push({ name: "namespace", in: "path", type: "string", description: "The namespace of the objects." });
  }
  return parameters;
}

function query(name: string, type: Parameter["type"], description: string): Parameter {
  return { name, in: "query", type, description };
}

const PRETTY = query("pretty", "string", "Anything but false indents the answer, for people to read.");
const DRY_RUN = query("dryRun", "string", "With All, everything is checked and answered, and nothing is stored.");
const FIELD_OWNER = query("fieldManager", "string", "Who changes these fields; at most 128 printable characters.");
const FIELD_VALIDATION = query(
  "fieldValidation",
  "string",
  "What unknown and duplicate fields are: Ignore drops them, Warn also says so, Strict refuses the request.",
);
const RESOURCE_VERSION = query("resourceVersion", "string", "At or after which version of the resource to read.");
const LIST_PARAMETERS = [
  query("allowWatchBookmarks", "boolean", "A watch may send bookmarks, which only bring a newer resourceVersion."),
  query("continue", "string", "Where the previous part of a long list ended, as its metadata said."),
  query("fieldSelector", "string", "Only objects whose fields have these values, `status.phase=Running`."),
  query("labelSelector", "string", "Only objects whose labels match, `app=web,tier!=cache`."),
  query("limit", "integer", "At most so many objects; the rest follows with continue."),
  RESOURCE_VERSION,
  query("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
  query("sendInitialEvents", "boolean", "A watch first sends all objects as they are, then a bookmark."),
  query("timeoutSeconds", "integer", "When a list is given up and a watch is ended."),
  query("watch", "boolean", "Follow the changes in place of a list."),
];
const DELETE_PARAMETERS = [
  DRY_RUN,
  query("gracePeriodSeconds", "integer", "How long an object may take to end; 0 removes it at once."),
  query("orphanDependents", "boolean", "The older way to say propagationPolicy."),
  query("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
];
const WRITE_PARAMETERS = [DRY_RUN, FIELD_OWNER, FIELD_VALIDATION];
const FORCE = query("force", "boolean", "An apply takes over fields that others manage.");

const QUERY_PARAMETERS: Readonly<Record<string, readonly Parameter[]>> = {
  list: LIST_PARAMETERS,
  deletecollection: [...LIST_PARAMETERS.slice(1, -1), ...DELETE_PARAMETERS],
  get: [],
  post: WRITE_PARAMETERS,
  put: WRITE_PARAMETERS,
  patch: [...WRITE_PARAMETERS, FORCE],
  delete: DELETE_PARAMETERS,
};
