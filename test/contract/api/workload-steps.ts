import type { KubeObject } from "../../../src/api/object.ts";
import type { ApiClient } from "./client.ts";

/** Waits by watching until the named object of the collection is as wanted. */
export async function untilObject(
  client: ApiClient,
  path: string,
  isWanted: (object: KubeObject) => boolean,
): Promise<KubeObject> {
  const [collection, name] = [path.slice(0, path.lastIndexOf("/")), path.slice(path.lastIndexOf("/") + 1)];
  const watch = await client.watch(collection, { fieldSelector: `metadata.name=${name}` });
  try {
    for (;;) {
      const { type, object } = await watch.next();
      if (type !== "DELETED" && isWanted(object)) return object;
    }
  } finally {
    watch.close();
  }
}

/** Waits until so many objects of the collection that are not being deleted have these labels. */
export async function untilCount(
  client: ApiClient,
  collection: string,
  { labelSelector, count }: { labelSelector: string; count: number },
): Promise<readonly KubeObject[]> {
  const { items, resourceVersion } = await client.list(collection, { labelSelector });
  const known = new Map(items.map((object) => [object.metadata.name ?? "", object]));
  const watch = await client.watch(collection, { labelSelector, resourceVersion });
  try {
    for (;;) {
      const standing = [...known.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (standing.length === count) return standing;
      const { type, object } = await watch.next();
      if (type === "DELETED") known.delete(object.metadata.name ?? "");
      else known.set(object.metadata.name ?? "", object);
    }
  } finally {
    watch.close();
  }
}

/** A template whose pods no scheduler looks at, so that their status is what the case makes it. */
export function waitingTemplate(labels: Readonly<Record<string, string>>, spec: object = {}) {
  const containers = [{ name: "main", image: "example.com/main:1" }];
  return { metadata: { labels }, spec: { schedulerName: "contract", containers, ...spec } };
}

/** Says of the pod what its node would. */
export async function reportPod(client: ApiClient, { metadata }: KubeObject, status: object): Promise<void> {
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`;
  const answer = await client.patch("merge", path, { status });
  if (answer.status !== 200) throw new Error(`the status of ${metadata.name} was refused: ${JSON.stringify(answer)}`);
}
