import type { PersistentVolume } from "../../../api/gen/types.ts";
import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const OTHER_ZONE: NodeRejection = { reasons: ["node(s) had no available volume zone"], isFinal: true };

const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
/** The labels of places, by the names that they have now. */
const PLACE_LABELS: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", ZONE],
  ["failure-domain.beta.kubernetes.io/region", REGION],
  [ZONE, ZONE],
  [REGION, REGION],
]);
/** The separator of several places in a volume's label. */
const SEPARATOR = "__";

interface Place {
  readonly label: string;
  readonly values: readonly string[];
}

/**
 * Checks that the node is in a zone and region of each volume that the pod's claims are bound to, as the volumes' labels
 * say (`plugins/volumezone`). A node without such labels is in a cluster of one zone, where every volume is. Claims of
 * ephemeral volumes are left out, as upstream leaves them out.
 */
export function filterVolumeZones({ info, ephemeralClaims }: PendingPod, { storage }: Cluster): NodeFilter | undefined {
  const places = info.claims
    .filter((name) => !ephemeralClaims.has(name))
    .flatMap((name) => storage.volume(storage.claim(info.namespace, name)?.spec?.volumeName ?? "") ?? [])
    .flatMap(placesOf);
  if (places.length === 0) return undefined;
  return ({ labels }) => {
    const isPlaced = [...PLACE_LABELS.keys()].some((label) => Object.hasOwn(labels, label));
    return !isPlaced || places.every((place) => isIn(place, labels)) ? undefined : OTHER_ZONE;
  };
}

function placesOf({ metadata }: PersistentVolume): Place[] {
  return Object.entries(metadata?.labels ?? {}).flatMap(([label, text]) => {
    if (!PLACE_LABELS.has(label)) return [];
    const values = text.split(SEPARATOR).map((value) => value.trim());
    // Upstream ignores a label of which it cannot make sense.
    return values.includes("") ? [] : [{ label, values }];
  });
}

/** A former label of a volume matches the node's present one too. */
function isIn({ label, values }: Place, labels: NodeInfo["labels"]): boolean {
  const present = Object.hasOwn(labels, label) ? label : (PLACE_LABELS.get(label) ?? label);
  const value = Object.hasOwn(labels, present) ? labels[present] : undefined;
  return value !== undefined && values.includes(value);
}
