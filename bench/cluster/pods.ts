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
