import type { ClaimDevice, ClaimReference } from "../../../dra/port.ts";

/** A claim that pods on this node use. */
export interface ClaimInfo extends ClaimReference {
  readonly podUids: ReadonlySet<string>;
  /** The devices by driver. A driver that has a part in the claim may have none, or none yet. */
  readonly drivers: ReadonlyMap<string, readonly ClaimDevice[]>;
  /** This process has had all drivers prepare it. A claim of an agent before this one is prepared anew where it is needed. */
  readonly isPrepared: boolean;
}

/** The place of a claim: no two of one place are used at a time. */
type ClaimPlace = Pick<ClaimReference, "namespace" | "name">;

/** Who uses which claim. There is one at each place. */
export interface ClaimAccount {
  get(place: ClaimPlace): ClaimInfo | undefined;
  put(info: ClaimInfo): void;
  remove(place: ClaimPlace): void;
  /** In the order of their places. */
  list(): readonly ClaimInfo[];
  /** The claims that the pod uses. */
  ofPod(podUid: string): readonly ClaimInfo[];
}

export function createClaimAccount(): ClaimAccount {
  const claims = new Map<string, ClaimInfo>();
  const list = () => [...claims].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, info]) => info);
  return {
    get: (place) => claims.get(claimKey(place)),
    put: (info) => claims.set(claimKey(info), info),
    remove: (place) => claims.delete(claimKey(place)),
    list,
    ofPod: (podUid) => list().filter(({ podUids }) => podUids.has(podUid)),
  };
}

/** `namespace/name` */
export function claimKey({ namespace, name }: ClaimPlace): string {
  return `${namespace}/${name}`;
}
