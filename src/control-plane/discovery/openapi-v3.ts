import { KUBERNETES_VERSION } from "../../api/kubernetes-version.ts";
import { compareText } from "../../api/version-order.ts";
import { type ApiTable, type GroupVersion, groupPathOf, type JsonObject, kindsOf } from "./api-table.ts";
import { collectDefinitions, META } from "./definitions.ts";
import { OPENAPI_V3 } from "./openapi-dialect.ts";
import { listOperations, type Operation, type Parameter } from "./operations.ts";

/** `/openapi/v3`: the path of each group's and version's document; the hash in it lets clients keep it for ever. */
export function describeOpenApiIndex(hashes: ReadonlyMap<string, string>): JsonObject {
  const paths = [...hashes].map(([path, hash]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]);
  return { paths: Object.fromEntries(paths) };
}

/** `/openapi/v3/<path>` of a group and version; undefined where there are no kinds. */
export function describeOpenApiV3(table: ApiTable, at: GroupVersion): JsonObject | undefined {
  const kinds = kindsOf(table.kinds, at);
  if (kinds.length === 0) return undefined;
  const root = `/${groupPathOf(at)}/`;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: KUBERNETES_VERSION },
    paths: { [root]: { get: resourcesOperation(at) }, ...describePaths(kinds.flatMap(listOperations)) },
    components: { schemas: collectDefinitions(OPENAPI_V3, { kinds, definitions: table.definitions }) },
  };
}

function resourcesOperation({ group, version }: GroupVersion): JsonObject {
  return {
    description: "The resources of this group and version.",
    operationId: `get${group === "" ? "Core" : group.replaceAll(/(?:^|[.-])(.)/g, (_, first: string) => first.toUpperCase())}${version.replace(/^./, (first) => first.toUpperCase())}APIResources`,
    responses: { "200": { description: "OK", content: jsonOf(META.resources) } },
  };
}

/** The operations by path and method; parameters that all operations of a path share stand at the path. */
function describePaths(operations: readonly Operation[]): JsonObject {
  const paths = new Map<string, Record<string, unknown>>();
  for (const operation of operations) {
    const path = paths.get(operation.path) ?? pathItem(operation);
    path[operation.method] = describeOperation(operation);
    paths.set(operation.path, path);
  }
  return Object.fromEntries([...paths].sort(([a], [b]) => compareText(a, b)));
}

const isShared = (parameter: Parameter) => parameter.in === "path" || parameter.name === "pretty";

function pathItem({ parameters }: Operation): Record<string, unknown> {
  return { parameters: parameters.filter(isShared).map(describeParameter) };
}

function describeOperation(operation: Operation): JsonObject {
  const { action, id, tag, kind, body, parameters } = operation;
  const own = parameters.filter((parameter) => !isShared(parameter));
  return {
    tags: [tag],
    operationId: id,
    ...(own.length > 0 && { parameters: own.map(describeParameter) }),
    ...(body !== undefined && { requestBody: describeBody(operation, body) }),
    responses: describeResponses(operation),
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kind,
  };
}

function describeParameter({ name, in: where, type, description }: Parameter): JsonObject {
  const isPath = where === "path";
  return { name, in: where, description, ...(isPath && { required: true }), schema: { type, uniqueItems: true } };
}

/** The media types of a patch. */
export function patchTypes({ strategicMerge }: Operation): string[] {
  return [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    ...(strategicMerge ? ["application/strategic-merge-patch+json"] : []),
  ];
}

function describeBody(operation: Operation, body: string): JsonObject {
  const schema = OPENAPI_V3.ref(body);
  const types = operation.method === "patch" ? patchTypes(operation) : ["*/*"];
  const isOptional = operation.method === "delete";
  return {
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
    ...(!isOptional && { required: true }),
  };
}

function describeResponses({ method, response }: Operation): JsonObject {
  const content = response === undefined ? { "*/*": { schema: { type: "string" } } } : jsonOf(response);
  const also: Readonly<Record<string, readonly [code: string, description: string]>> = {
    post: ["201", "Created"],
    put: ["201", "Created"],
    patch: ["201", "Created"],
    delete: ["202", "Accepted"],
  };
  const other = response === undefined ? undefined : also[method];
  return {
    "200": { description: "OK", content },
    ...(other && { [other[0]]: { description: other[1], content } }),
    "401": { description: "Unauthorized" },
  };
}

const jsonOf = (definition: string) => ({ "application/json": { schema: OPENAPI_V3.ref(definition) } });
