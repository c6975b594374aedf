import { isApiError } from "../../api/api-error.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { ResourceEvent, ResourceFeed, ResourceReader } from "../ports/resources.ts";

/** The namespace; undefined when it does not exist or is being deleted. */
export function activeNamespace(reader: Pick<ResourceReader, "get">, name: string): KubeObject | undefined {
  const found = reader.get({ resource: "namespaces", namespace: "", name });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  return typed("Namespace", found).status?.phase === "Terminating" ? undefined : found;
}

/**
 * Calls `touch` with the name of every namespace that is created or changes, and of every namespace in which the
 * resource's object of that name changes or is deleted.
 */
export function followOnePerNamespace(
  feed: ResourceFeed,
  { resource, name }: { resource: string; name: string },
  touch: (namespace: string) => void,
): Array<() => void> {
  const onNamespace = ({ type, object }: ResourceEvent) => {
    if (type !== "DELETED") touch(object.metadata.name ?? "");
  };
  const onObject = ({ type, object }: ResourceEvent) => {
    if (type !== "ADDED" && object.metadata.name === name) touch(object.metadata.namespace ?? "");
  };
  return [feed.follow("namespaces", onNamespace), feed.follow(resource, onObject)];
}

/**
 * Waits for the creation of an object in a namespace. It is no failure when somebody else was faster or when the
 * namespace is being deleted: nothing is left to do then.
 */
export async function createUnlessGoing(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    const isTerminating =
      isApiError(error, "Forbidden") && error.details.causes?.some(({ reason }) => reason === "NamespaceTerminating");
    if (isTerminating || isApiError(error, "AlreadyExists") || isApiError(error, "NotFound")) return;
    throw error;
  }
}
