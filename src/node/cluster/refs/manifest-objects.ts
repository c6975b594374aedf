import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../api/api-error.ts";
import type { ConfigMap, Pod, Secret } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import type { Log } from "../../../base/log.ts";
import { listNamedObjects } from "./named-objects.ts";
import type { ObjectRefs } from "./object-refs.ts";
import { keyOfObject } from "./referenced-objects.ts";

/** A config map or a secret of a manifest. It is valid, and has a namespace. */
export type ManifestObject = { readonly origin: string } & (
  | { readonly kind: "ConfigMap"; readonly object: ConfigMap }
  | { readonly kind: "Secret"; readonly object: Secret }
);

/** The config maps and secrets that stand beside static pods, on a node without an API server. */
export interface ManifestObjects extends Pick<ObjectRefs, "configMap" | "secret"> {
  /**
   * Takes what all manifests hold now; of two objects of one name the earlier counts. Tells of those of the pods that
   * name an object that changed. Returns whether any did.
   */
  take(objects: readonly ManifestObject[], pods: readonly Pod[]): boolean;
}

interface ManifestObjectsDeps {
  readonly log: Log;
  /** Called with the UID of each pod that names an object that changed. */
  onChanged(podUid: string): void;
}

export function createManifestObjects({ log, onChanged }: ManifestObjectsDeps): ManifestObjects {
  let held: ReadonlyMap<string, ManifestObject> = new Map();
  let twins = new Set<string>();

  const find = (kind: ManifestObject["kind"], namespace: string, name: string): ManifestObject => {
    const found = held.get(manifestObjectKey(kind, { namespace, name }));
    if (found !== undefined) return found;
    const mend = `put a ${kind} of namespace ${JSON.stringify(namespace)} beside the pod's manifest`;
    throw new ApiError("NotFound", `${kind.toLowerCase()} ${JSON.stringify(name)} not found: ${mend}`);
  };

  const reportTwins = (objects: readonly ManifestObject[]) => {
    const found = new Set<string>();
    for (const entry of objects) {
      const first = held.get(keyOfManifestObject(entry));
      if (first === undefined || first === entry) continue;
      const { namespace, name } = entry.object.metadata ?? {};
      const text = `${entry.origin}\n${first.origin}`;
      found.add(text);
      if (twins.has(text)) continue;
      const fields = {
        [entry.kind]: `${name}_${namespace}`,
        origin: entry.origin,
        error: `${first.origin} has it too`,
      };
      log.error("Ignored the second object of one name beside static pods: give it another name", fields);
    }
    twins = found;
  };

  return {
    async configMap(namespace, name) {
      const { object } = find("ConfigMap", namespace, name);
      return object;
    },
    async secret(namespace, name) {
      const { object } = find("Secret", namespace, name);
      return object;
    },
    take(objects, pods) {
      const before = held;
      held = indexObjects(objects);
      reportTwins(objects);
      const changed = new Set(
        [...before.keys(), ...held.keys()].filter((key) => !isSame(before.get(key), held.get(key))),
      );
      if (changed.size === 0) return false;
      const isConcerned = (pod: Pod) => listObjectKeys(pod).some((key) => changed.has(key));
      for (const pod of pods.filter(isConcerned)) onChanged(podUid(pod));
      return true;
    },
  };
}

/** Indexes objects by their key; the earlier of two counts. */
export function indexObjects(objects: readonly ManifestObject[]): ReadonlyMap<string, ManifestObject> {
  const index = new Map<string, ManifestObject>();
  for (const entry of objects) if (!index.has(keyOfManifestObject(entry))) index.set(keyOfManifestObject(entry), entry);
  return index;
}

/** Lists the keys of all objects that the pod names. */
export function listObjectKeys(pod: Pod): string[] {
  const { namespace } = podReference(pod);
  const { configMaps, secrets } = listNamedObjects(pod);
  return [
    ...configMaps.map((name) => manifestObjectKey("ConfigMap", { namespace, name })),
    ...secrets.map((name) => manifestObjectKey("Secret", { namespace, name })),
  ];
}

/** Makes the key of an object among all of its manifests. */
export function keyOfManifestObject({ kind, object }: ManifestObject): string {
  const { namespace = "", name = "" } = object.metadata ?? {};
  return manifestObjectKey(kind, { namespace, name });
}

function manifestObjectKey(kind: ManifestObject["kind"], name: { namespace: string; name: string }): string {
  return `${kind}/${keyOfObject(name)}`;
}

function isSame(before: ManifestObject | undefined, after: ManifestObject | undefined): boolean {
  return before === after || isDeepStrictEqual(before?.object, after?.object);
}
