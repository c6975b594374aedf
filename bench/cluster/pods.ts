import type { Pod } from "../../src/api/gen/types.ts";
import { type Connection, expectStatus } from "../control-plane/connection.ts";
import type { Manifest } from "../workload.ts";
import type { WatchEvent } from "./object-watch.ts";

const NAMESPACE = "bench";

/** Where the bench's pods are. */
export const PODS_PATH = `/api/v1/namespaces/${NAMESPACE}/pods`;

/** Creates the pod on that node, with the token volume that every pod gets. Returns when the call was made. */
export async function createPodOn(connection: Connection, nodeName: string, manifest: Manifest): Promise<number> {
  const { metadata, spec } = manifest;
  const pod = { ...manifest, metadata: { ...metadata, namespace: NAMESPACE }, spec: { ...spec, nodeName } };
  const calledAt = performance.now();
  const call = { method: "POST", path: PODS_PATH, body: JSON.stringify(pod) } as const;
  expectStatus(await connection.request(call), 201);
  return calledAt;
}

/** Creates or replaces a config map or a secret where the bench's pods are. */
export async function putObject(
  connection: Connection,
  kind: "ConfigMap" | "Secret",
  object: { name: string; data: Readonly<Record<string, string>> },
): Promise<void> {
  const path = `/api/v1/namespaces/${NAMESPACE}/${kind.toLowerCase()}s`;
  const body = { apiVersion: "v1", kind, metadata: { name: object.name, namespace: NAMESPACE }, data: object.data };
  const apply = { method: "PATCH", contentType: "application/apply-patch+yaml" } as const;
  const query = "?fieldManager=bench&force=true";
  const call = { ...apply, path: `${path}/${object.name}${query}`, body: JSON.stringify(body) };
  expectStatus(await connection.request(call), 200, 201);
}

/** Removes one of those. */
export async function deleteObject(connection: Connection, kind: "ConfigMap" | "Secret", name: string): Promise<void> {
  const path = `/api/v1/namespaces/${NAMESPACE}/${kind.toLowerCase()}s/${name}`;
  expectStatus(await connection.request({ method: "DELETE", path }), 200, 404);
}

/** Asks for the pod's end as `kubectl delete` does. Returns when the call was made. */
export async function deletePod(connection: Connection, name: string): Promise<number> {
  const calledAt = performance.now();
  expectStatus(await connection.request({ method: "DELETE", path: `${PODS_PATH}/${name}` }), 200);
  return calledAt;
}

/** The phase, and every container. */
export function showsRunning({ type, object: { spec, status } }: WatchEvent<Pod>): boolean {
  if (type === "DELETED") return false;
  const statuses = status?.containerStatuses ?? [];
  const isComplete = statuses.length === (spec?.containers ?? []).length;
  return status?.phase === "Running" && isComplete && statuses.every(({ state }) => state?.running !== undefined);
}

/** The API has let go of it. */
export function showsGone({ type }: WatchEvent<Pod>): boolean {
  return type === "DELETED";
}
