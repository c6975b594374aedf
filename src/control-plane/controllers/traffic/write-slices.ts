import type { EndpointSlice } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { unlessOvertaken } from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createObjectIndex } from "../../control-loop/object-index.ts";
import type { ResourceEvent, ResourceFeed, ResourceReader, ResourceWriter } from "../../ports/resources.ts";
import { createUnlessGoing } from "../active-namespaces.ts";
import type { SlicePlan } from "./plan-slices.ts";

export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
export const SLICE_WRITER_LABEL = "endpointslice.kubernetes.io/managed-by";
export const HEADLESS_LABEL = "service.kubernetes.io/headless";

/** The slices of services that one controller keeps. */
interface OwnSlices {
  /** Follows slices, and tells of the service of each that changed. Returns how to stop. */
  follow(onChanged: (serviceKey: string) => void): () => void;
  of(serviceKey: string): EndpointSlice[];
  write(plan: SlicePlan): Promise<void>;
}

const RESOURCE = "endpointslices.discovery.k8s.io";

/** Creates the knowledge of the slices that bear this manager's name. */
export function createOwnSlices(
  { reader, writer, feed }: { reader: ResourceReader; writer: ResourceWriter; feed: ResourceFeed },
  manager: string,
): OwnSlices {
  /** The slices that were created and are not told of yet, by service: without them they would be created again. */
  const fresh = new Map<string, Set<string>>();
  const serviceOf = ({ metadata }: KubeObject): string | undefined => {
    const { labels = {}, namespace = "" } = metadata;
    const name = labels[SERVICE_NAME_LABEL];
    return name === undefined || labels[SLICE_WRITER_LABEL] !== manager
      ? undefined
      : namespacedKeyOf({ namespace, name });
  };
  const index = createObjectIndex((object) => {
    const service = serviceOf(object);
    return service === undefined ? [] : [service];
  });
  const noteCreated = (object: KubeObject) => {
    const service = serviceOf(object) ?? "";
    fresh.set(service, (fresh.get(service) ?? new Set()).add(namespacedKeyOf(object.metadata)));
  };
  const onEvent = (event: ResourceEvent, onChanged: (serviceKey: string) => void) => {
    index.apply(event);
    const key = namespacedKeyOf(event.object.metadata);
    for (const object of [event.object, event.previous]) {
      const service = object && serviceOf(object);
      if (service === undefined) continue;
      fresh.get(service)?.delete(key);
      if (fresh.get(service)?.size === 0) fresh.delete(service);
      onChanged(service);
    }
  };
  return {
    follow: (onChanged) => feed.follow(RESOURCE, (event) => onEvent(event, onChanged)),
    of(service) {
      const keys = new Set([...index.keysOf(service), ...(fresh.get(service) ?? [])]);
      return [...keys].sort().flatMap((key) => {
        const found = reader.get({ resource: RESOURCE, ...splitNamespacedKey(key) });
        return found === undefined || found.metadata.deletionTimestamp !== undefined || serviceOf(found) !== service
          ? []
          : [typed("EndpointSlice", found)];
      });
    },
    async write({ create, update, remove }) {
      for (const slice of create) await createUnlessGoing(writer.create(RESOURCE, untyped(slice)).then(noteCreated));
      for (const slice of update) await writer.update(RESOURCE, untyped(slice));
      for (const { metadata } of remove) {
        const { namespace = "", name = "" } = metadata ?? {};
        await unlessOvertaken(writer.remove({ resource: RESOURCE, namespace, name }));
      }
    },
  };
}
