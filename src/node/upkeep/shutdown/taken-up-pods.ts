import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { PodState } from "../../pods/workers/pod-state.ts";

/** Which pods there should be, which run by the runtime's word, and which have a worker. */
interface TakenUpDeps {
  readonly desired: { allReady(): boolean; pods(): readonly Pod[] };
  readonly running: { isListed(podUid: string): boolean };
  readonly workers: { state(podUid: string): PodState | undefined };
}

/** False until all sources of pods were read, and each of their pods that runs has a worker. */
export function isEveryPodTakenUp({ desired, running, workers }: TakenUpDeps): boolean {
  const isTakenUp = (uid: string) => workers.state(uid) !== undefined || !running.isListed(uid);
  return desired.allReady() && desired.pods().map(podUid).every(isTakenUp);
}
