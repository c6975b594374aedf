import { KUBERNETES_VERSION } from "../../api/kubernetes-version.ts";
import { compareText } from "../../api/version-order.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { type ApiTable, groupPathOf, type JsonObject } from "./api-table.ts";
import { collectDefinitions } from "./definitions.ts";
import { OPENAPI_V2 } from "./openapi-dialect.ts";
import { patchTypes } from "./openapi-v3.ts";
import { listOperations, type Operation, type Parameter } from "./operations.ts";

/** `/openapi/v2`: everything in one Swagger 2.0 document. */
export interface SwaggerDocument extends JsonObject {
  readonly swagger: "2.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly definitions: JsonObject;
}

/** The document of all kinds. kubectl up to 1.26 validates, explains and patches by it. */
export function describeOpenApiV2(table: ApiTable): SwaggerDocument {
  const paths = new Map<string, Readonly<Record<string, JsonObject>>>();
  for (const { path: name, method, description } of table.kinds.flatMap(describeOperations)) {
    paths.set(name, { ...paths.get(name), [method]: description });
  }
  const definitions = new Map(Object.entries(collectDefinitions(OPENAPI_V2, table)));
  for (const { openApi, ...at } of table.foreign ?? []) {
    const root = `/${groupPathOf(at)}/`;
    for (const [path, item] of Object.entries(openApi?.v2?.paths ?? {})) {
      if (path.startsWith(root)) paths.set(path, item);
    }
    // Nobody gives a definition of ours, or one that another server gave, a new meaning.
    for (const [name, schema] of Object.entries(openApi?.v2?.definitions ?? {})) {
      if (!definitions.has(name)) definitions.set(name, schema);
    }
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: KUBERNETES_VERSION },
    paths: Object.fromEntries([...paths].sort(([a], [b]) => compareText(a, b))),
    definitions: Object.fromEntries([...definitions].sort(([a], [b]) => compareText(a, b))),
  };
}

/** Describes kind after kind, so that the document of all of them is soon made of what is known. */
export function* prepareOpenApiV2({ kinds, definitions }: ApiTable): Generator<JsonObject> {
  for (const kind of kinds) {
    describeOperations(kind);
    yield collectDefinitions(OPENAPI_V2, { kinds: [kind], definitions });
  }
}

interface DescribedOperation extends Pick<Operation, "path" | "method"> {
  readonly description: JsonObject;
}

/** The operations of kinds that were described before: each change of a CRD asks for all of them again. */
const described = new WeakMap<ResourceKind, readonly DescribedOperation[]>();

function describeOperations(kind: ResourceKind): readonly DescribedOperation[] {
  const known = described.get(kind);
  if (known) return known;
  const made = listOperations(kind).map((operation) => {
    const { path, method } = operation;
    return { path, method, description: describeOperation(operation) };
  });
  described.set(kind, made);
  return made;
}

function describeOperation(operation: Operation): JsonObject {
  const { method, action, id, tag, kind, body, parameters, response } = operation;
  const sent = body === undefined ? [] : [bodyParameter(operation, body)];
  const schema = response === undefined ? { type: "string" } : OPENAPI_V2.ref(response);
  return {
    consumes: method === "patch" ? patchTypes(operation) : ["*/*"],
    produces: response === undefined ? ["*/*"] : ["application/json"],
    tags: [tag],
    operationId: id,
    parameters: [...sent, ...parameters.map(describeParameter)],
    responses: { "200": { description: "OK", schema }, "401": { description: "Unauthorized" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kind,
  };
}

function bodyParameter({ method }: Operation, body: string): JsonObject {
  return { name: "body", in: "body", ...(method !== "delete" && { required: true }), schema: OPENAPI_V2.ref(body) };
}

function describeParameter({ name, in: where, type, description }: Parameter): JsonObject {
  return { name, in: where, description, ...(where === "path" && { required: true }), type, uniqueItems: true };
}
