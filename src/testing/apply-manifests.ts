import { isRecord, type KubeObject } from "../api/object.ts";
import { CodedError } from "../base/errors.ts";
import type { AdminApi, ApiAnswer } from "./admin-api.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const APPLY = "application/apply-patch+yaml";
const APPLIED_BY = "nodelet-testing";

const isDefinition = ({ kind, apiVersion }: KubeObject) =>
  kind === "CustomResourceDefinition" && apiVersion.startsWith("apiextensions.k8s.io/");

/** Applies objects in their order, definitions of custom resources before all others. */
export async function applyManifests(api: AdminApi, objects: readonly KubeObject[]): Promise<void> {
  await installDefinitions(api, objects);
  const resources = new Map<string, Promise<ServedResource[]>>();
  for (const object of objects) if (!isDefinition(object)) await applyObject(api, object, resources);
}

/** Installs the definitions among the objects, and resolves when everything that they define is served. */
export async function installDefinitions(
  api: AdminApi,
  objects: readonly KubeObject[],
  signal?: AbortSignal,
): Promise<void> {
  const definitions = objects.filter(isDefinition);
  await Promise.all(definitions.map((definition) => send(api, definition, DEFINITIONS)));
  for (const { metadata } of definitions) {
    const name = metadata.name ?? "";
    const path = `${DEFINITIONS}/${encodeURIComponent(name)}`;
    await api.poll(`custom resource definition ${name}`, {
      path,
      signal,
      isReached: ({ body }) => isEstablished(name, body),
    });
  }
}

/**
 * Tells whether the definition is established. Throws `not-established` as soon as it is known that it never will be.
 */
function isEstablished(name: string, definition: unknown): boolean {
  const conditions = conditionsOf(definition);
  const refused = conditions.find(({ type, status }) => type === "NamesAccepted" && status === "False");
  if (refused) {
    const message = `custom resource definition ${name} is not established: ${String(refused["message"])}`;
    throw new CodedError("not-established", message);
  }
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}

function conditionsOf(object: unknown): Array<Record<string, unknown>> {
  const status = isRecord(object) ? object["status"] : undefined;
  const conditions = isRecord(status) ? status["conditions"] : undefined;
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
}

interface ServedResource {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

async function applyObject(
  api: AdminApi,
  object: KubeObject,
  resources: Map<string, Promise<ServedResource[]>>,
): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const root = `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`;
  const served = resources.get(root) ?? readResources(api, root);
  resources.set(root, served);
  const resource = (await served).find((candidate) => candidate.kind === kind);
  if (resource === undefined) {
    throw new CodedError("manifest-refused", `${titleOf(object)}: the server does not know ${apiVersion} ${kind}`);
  }
  const place = resource.namespaced ? `/namespaces/${encodeURIComponent(metadata.namespace ?? "default")}` : "";
  await send(api, object, `${root}${place}/${resource.plural}`);
}

async function readResources(api: AdminApi, root: string): Promise<ServedResource[]> {
  const { body } = await api.call("GET", root);
  const resources = isRecord(body) && Array.isArray(body["resources"]) ? body["resources"].filter(isRecord) : [];
  return resources
    .map(({ kind, name, namespaced }) => ({
      kind: String(kind),
      plural: String(name),
      namespaced: namespaced === true,
    }))
    .filter(({ plural }) => !plural.includes("/"));
}

/** Sends the object. An object without a name is created, under a name that the server makes. */
async function send(api: AdminApi, object: KubeObject, collection: string): Promise<void> {
  const { name } = object.metadata;
  const options = `fieldManager=${APPLIED_BY}&fieldValidation=Strict`;
  const answer =
    name === undefined
      ? await api.call("POST", `${collection}?${options}`, { body: object })
      : await api.call("PATCH", `${collection}/${encodeURIComponent(name)}?force=true&${options}`, {
          body: object,
          contentType: APPLY,
        });
  if (answer.status >= 300) throw new CodedError("manifest-refused", `${titleOf(object)}: ${problemOf(answer)}`);
}

function titleOf({ kind, metadata }: KubeObject): string {
  return `cannot apply ${kind} ${metadata.name ?? metadata.generateName ?? "without a name"}`;
}

function problemOf({ status, body }: ApiAnswer): string {
  return isRecord(body) && typeof body["message"] === "string" ? body["message"] : `the server answers ${status}`;
}
