import type { KubeObject } from "../../api/object.ts";
import type { ResourceFeed } from "../ports/resources.ts";

/** Every namespace gets these by itself. */
const IN_EVERY_NAMESPACE = new Set(["serviceaccounts default", "configmaps kube-root-ca.crt"]);
const NEWS = new Set(["events", "events.events.k8s.io"]);

/**
 * The objects that would go along if a namespace or a definition were deleted, as `configmaps settings`: not those that
 * are being deleted already, nor those whose owners are gone. It reads what is stored and not the table of kinds, so that
 * objects of kinds that are not served yet count too.
 */
export function findContent(feed: Pick<ResourceFeed, "followAll">, container: KubeObject): readonly string[] {
  const isInside = insideOf(container);
  const inside: Inside[] = [];
  const alive = new Set<string>();
  const stop = feed.followAll((resource, { object: { metadata } }) => {
    const { name = "", uid = "", deletionTimestamp, ownerReferences = [] } = metadata;
    if (deletionTimestamp !== undefined) return;
    alive.add(uid);
    if (!isInside(resource, metadata)) return;
    inside.push({ title: `${resource} ${name}`, uid, owners: ownerReferences.map((owner) => owner.uid) });
  });
  // The listener has heard of everything that exists by now.
  stop();
  for (let isNews = true; isNews; ) {
    const orphans = inside.filter((one) => alive.has(one.uid) && isOrphan(one, alive));
    for (const { uid } of orphans) alive.delete(uid);
    isNews = orphans.length > 0;
  }
  return inside.filter(({ uid }) => alive.has(uid)).map(({ title }) => title);
}

interface Inside {
  readonly title: string;
  readonly uid: string;
  readonly owners: readonly string[];
}

/** True for what the garbage collector is about to delete. */
function isOrphan({ owners }: Inside, alive: ReadonlySet<string>): boolean {
  return owners.length > 0 && !owners.some((uid) => alive.has(uid));
}

type IsInside = (resource: string, metadata: KubeObject["metadata"]) => boolean;

function insideOf({ kind, metadata: { name = "" } }: KubeObject): IsInside {
  // The name of a definition is that of its resource.
  if (kind !== "Namespace") return (resource) => resource === name;
  return (resource, metadata) => {
    if (metadata.namespace !== name || NEWS.has(resource)) return false;
    return !IN_EVERY_NAMESPACE.has(`${resource} ${metadata.name ?? ""}`);
  };
}
