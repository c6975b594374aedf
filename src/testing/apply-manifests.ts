import { isKubeObject, isRecord, type KubeObject } from "../api/object.ts";
import { CodedError } from "../base/errors.ts";
import type { AdminApi, ApiAnswer } from "./admin-api.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const APPLY = "application/apply-patch+yaml";
const APPLIED_BY = "nodelet-testing";

/** An object as the server answers it. */
type StoredObject = KubeObject & { readonly metadata: { readonly name: string; readonly uid: string } };

const isDefinition = ({ kind, apiVersion }: KubeObject) =>
  kind === "CustomResourceDefinition" && apiVersion.startsWith("apiextensions.k8s.io/");

/**
 * Applies objects in their order, definitions of custom resources before all others. Returns what the server answers, in
 * the order of the objects.
 */
export async function applyManifests(api: AdminApi, objects: readonly KubeObject[]): Promise<StoredObject[]> {
  const applied = new Map(await installDefinitions(api, objects));
  const resources = new Map<string, Promise<ServedResource[]>>();
  for (const object of objects) {
    if (!isDefinition(object)) applied.set(object, await applyObject(api, object, resources));
  }
  return objects.flatMap((object) => applied.get(object) ?? []);
}

/**
 * Installs the definitions among the objects, and resolves with what the server answered when everything that they define
 * is served.
 */
export async function installDefinitions(
  api: AdminApi,
  objects: readonly KubeObject[],
  signal?: AbortSignal,
): Promise<ReadonlyArray<readonly [KubeObject, StoredObject]>> {
  const definitions = objects.filter(isDefinition);
  const installed = await Promise.all(
    definitions.map(async (definition) => [definition, await send(api, definition, DEFINITIONS)] as const),
  );
  for (const { metadata } of definitions) {
    const name = metadata.name ?? "";
    const path = `${DEFINITIONS}/${encodeURIComponent(name)}`;
    await api.poll(`custom resource definition ${name}`, {
      path,
      signal,
      isReached: ({ body }) => isEstablished(name, body),
    });
  }
  return installed;
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
): Promise<StoredObject> {
  const { apiVersion, kind, metadata } = object;
  const root = `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`;
  const served = resources.get(root) ?? readResources(api, root);
  resources.set(root, served);
  const resource = (await served).find((candidate) => candidate.kind === kind);
  if (resource === undefined) {
    throw new CodedError("manifest-refused", `${titleOf(object)}: the server does not know ${apiVersion} ${kind}`);
  }
  const place = resource.namespaced ? `/namespaces/${encodeURIComponent(metadata.namespace ?? "default")}` : "";
  return await send(api, object, `${root}${place}/${resource.plural}`);
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
async function send(api: AdminApi, object: KubeObject, collection: string): Promise<StoredObject> {
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
  if (isStored(answer.body)) return answer.body;
  throw new CodedError("manifest-refused", `${titleOf(object)}: the server answers with no object`);
}

function isStored(body: unknown): body is StoredObject {
  return isKubeObject(body) && body.metadata.name !== undefined && body.metadata.uid !== undefined;
}

function titleOf({ kind, metadata }: KubeObject): string {
  return `cannot apply ${kind} ${metadata.name ?? metadata.generateName ?? "without a name"}`;
}

function problemOf({ status, body }: ApiAnswer): string {
  return isRecord(body) && typeof body["message"] === "string" ? body["message"] : `the server answers ${status}`;
}
