import { badRequestError, notFoundError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";

/** Throws NotFound. */
export function findPod(
  reader: Pick<ResourceReader, "get">,
  { namespace, name }: { namespace: string; name: string },
): Pod {
  const object = reader.get({ resource: "pods", namespace, name });
  if (object === undefined) throw notFoundError({ group: "", resource: "pods" }, name);
  return typed("Pod", object);
}

/**
 * The container that is meant: the named one, or the only one of a pod that has no choice. Throws BadRequest in the words
 * of pkg/registry/core/pod/strategy.go (`validateContainer`).
 */
export function chooseContainer({ metadata, spec }: Pod, wanted: string): string {
  const pod = metadata?.name ?? "";
  const containers = spec?.containers ?? [];
  const all = [...(spec?.initContainers ?? []), ...containers, ...(spec?.ephemeralContainers ?? [])];
  const names = all.map(({ name }) => name);
  if (wanted !== "") {
    if (names.includes(wanted)) return wanted;
    throw badRequestError(`container ${wanted} is not valid for pod ${pod}`);
  }
  const [only, second] = containers;
  if (only === undefined) throw badRequestError(`a container name must be specified for pod ${pod}`);
  if (second === undefined) return only.name;
  throw badRequestError(`a container name must be specified for pod ${pod}, choose one of: [${names.join(" ")}]`);
}
