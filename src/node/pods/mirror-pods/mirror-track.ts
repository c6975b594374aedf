import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod, podFullName, podUid } from "../../../api/pods.ts";
import { manifestHash, mirroredHash } from "./make-mirror-pod.ts";
import { type MirrorAction, type MirrorView, planMirrorPods } from "./plan-mirror-pods.ts";

/** The part of a view that is about one full name. */
export interface MirrorPlace {
  readonly staticPod: Pod | undefined;
  readonly mirror: Pod | undefined;
}

/** One full name: its part of the view, corrected by the node's own actions that the view does not show yet. */
export interface MirrorTrack {
  /** Takes a new view; true when it differs in a fact that decides about this name. */
  see(view: MirrorView, place: MirrorPlace): boolean;
  next(): MirrorAction | undefined;
  /** This mirror exists, also where the view does not show it yet. False for one that was deleted and does not go. */
  present(mirror: Pod): boolean;
  /** This mirror was deleted, also where the view still shows it. */
  absent(mirror: Pod): void;
  /** Gives up a mirror that the view never came to show. */
  doubt(): void;
  /** True while a mirror is believed to exist that the view does not show. */
  readonly isAhead: boolean;
}

/** The track of a name without any known facts. */
export function createMirrorTrack(fullName: string): MirrorTrack {
  let view: MirrorView | undefined;
  let place: MirrorPlace = { staticPod: undefined, mirror: undefined };
  let situation = "";
  let made: Pod | undefined;
  let deletedUid: string | undefined;

  return {
    see(nextView, nextPlace) {
      view = nextView;
      place = nextPlace;
      const shown = place.mirror === undefined ? undefined : podUid(place.mirror);
      // The view is never older than the one because of which another mirror was created.
      if (shown !== undefined && shown !== deletedUid) made = undefined;
      const before = situation;
      situation = `${describe(nextView, nextPlace)}${nextView.isEnding(fullName)}`;
      return situation !== before;
    },
    next() {
      if (view === undefined) return undefined;
      const isDeleted = place.mirror !== undefined && podUid(place.mirror) === deletedUid;
      const mirror = isDeleted ? made : (place.mirror ?? made);
      const [first] = planMirrorPods({ ...view, staticPods: listOf(place.staticPod), mirrorPods: listOf(mirror) });
      return first;
    },
    present(mirror) {
      if (podUid(mirror) === deletedUid) return false;
      // The watch may have been faster than the answer: from then on the view decides.
      const isShown = place.mirror !== undefined && podUid(place.mirror) === podUid(mirror);
      if (!isShown) made = mirror;
      return true;
    },
    absent(mirror) {
      deletedUid = podUid(mirror);
      made = undefined;
    },
    doubt() {
      made = undefined;
    },
    get isAhead() {
      return made !== undefined;
    },
  };
}

function describe(view: MirrorView, { staticPod, mirror }: MirrorPlace): string {
  return JSON.stringify([
    staticPod && manifestHash(staticPod),
    mirror && [podUid(mirror), mirroredHash(mirror), mirror.metadata?.deletionTimestamp, view.isOutlived(mirror)],
    view.nodeUid,
    view.sourcesReady,
  ]);
}

/** The places of a view, by full name. */
export function placesOf(view: MirrorView): Map<string, MirrorPlace> {
  const places = new Map<string, MirrorPlace>();
  for (const staticPod of view.staticPods) places.set(podFullName(staticPod), { staticPod, mirror: undefined });
  for (const mirror of view.mirrorPods.filter(isMirrorPod)) {
    const fullName = podFullName(mirror);
    places.set(fullName, { staticPod: places.get(fullName)?.staticPod, mirror });
  }
  return places;
}

function listOf(pod: Pod | undefined): Pod[] {
  return pod === undefined ? [] : [pod];
}
