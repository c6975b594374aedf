import type { Pod } from "../../src/api/gen/types.ts";

/** Which pods the node has to run, as those know who want them: the operator's manifests, or the API. */
export interface WantedPods {
  /** Since when the UID is wanted without a break; undefined for one that is not. */
  wantedSince(uid: string): number | undefined;
  /** Since when it is not wanted; undefined for one that is wanted. */
  unwantedSince(uid: string): number | undefined;
  /** The last time that what is wanted of the pod was uncertain; Infinity for now. */
  uncertainAt(uid: string): number;
  /** Every pod there ever was, as the agent decodes it. */
  pod(uid: string): Pod | undefined;
  /** How long its containers have to end by themselves: no less than the one, and no more than the other. */
  gracePeriodMs(uid: string): { least: number; most: number };
}

/** Those of both. */
export function joinWantedPods(manifests: WantedPods, api: WantedPods | undefined): WantedPods {
  const of = (uid: string) => (api?.pod(uid) === undefined ? manifests : api);
  return {
    wantedSince: (uid) => of(uid).wantedSince(uid),
    unwantedSince: (uid) => of(uid).unwantedSince(uid),
    uncertainAt: (uid) => of(uid).uncertainAt(uid),
    pod: (uid) => of(uid).pod(uid),
    gracePeriodMs: (uid) => of(uid).gracePeriodMs(uid),
  };
}
