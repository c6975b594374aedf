import type { Node, Pod } from "../../../api/gen/types.ts";
import { isStaticPod, podUid } from "../../../api/pods.ts";
import { aborted } from "../../../base/abort.ts";
import type { DesiredPods } from "../desired/desired-pods.ts";
import type { MirrorView } from "../mirror-pods/plan-mirror-pods.ts";
import type { PodState } from "../workers/pod-state.ts";
import type { MirrorLives } from "./mirror-lives.ts";

/** Tells the mirror pods what there should be, whenever that may have changed. */
export interface MirrorUpkeep {
  /** Which pods there are may have changed. */
  podsChanged(states: ReadonlyMap<string, PodState>): void;
  /** Follows the node object, which mirrors belong to, and the statuses. Returns after the signal has fired. */
  run(signal: AbortSignal): Promise<void>;
}

interface MirrorUpkeepDeps {
  readonly desired: Pick<DesiredPods, "allReady" | "mirrorPods" | "pods">;
  readonly lives: Pick<MirrorLives, "forgetGone" | "isOutlived" | "outlivedMirrorOf">;
  readonly mirrors: { update(view: MirrorView): void };
  readonly registration: {
    node(): Node | undefined;
    subscribe(listener: () => void): () => void;
  };
  readonly statuses: { subscribe(listener: (published: { readonly pod: Pod }) => void): () => void };
}

export function createMirrorUpkeep(deps: MirrorUpkeepDeps): MirrorUpkeep {
  const { desired, lives, mirrors, registration, statuses } = deps;
  let states: ReadonlyMap<string, PodState> = new Map();

  const update = () => {
    lives.forgetGone();
    const ending = listEndingNames(states);
    mirrors.update({
      staticPods: desired.pods().filter((pod) => isStaticPod(pod) && states.has(podUid(pod))),
      mirrorPods: desired.mirrorPods(),
      isOutlived: lives.isOutlived,
      nodeUid: registration.node()?.metadata?.uid,
      sourcesReady: desired.allReady(),
      isEnding: (fullName) => ending.has(fullName),
    });
  };

  return {
    podsChanged(known) {
      states = known;
      update();
    },
    async run(signal) {
      const stops = [
        registration.subscribe(update),
        // The mirror may have become known only after its pod began anew.
        statuses.subscribe(({ pod }) => {
          if (lives.outlivedMirrorOf(pod) !== undefined) update();
        }),
      ];
      if (registration.node() !== undefined) update();
      await aborted(signal);
      for (const stop of stops) stop();
    },
  };
}

/** Full names of pods that are still being stopped: their mirrors stay until then. */
function listEndingNames(states: ReadonlyMap<string, PodState>): ReadonlySet<string> {
  const ending = [...states.values()].filter(({ phase }) => phase === "terminating" || phase === "terminated");
  return new Set(ending.map(({ fullName }) => fullName));
}
