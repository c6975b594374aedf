import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { DesiredPods } from "../desired/desired-pods.ts";
import type { MirrorLives } from "./mirror-lives.ts";

/** Hands on to those who report a pod to the API server what happens to it. */
export interface PodReports {
  /** The API server shows this of a pod, or of a mirror. */
  show(pod: Pod): void;
  /** Nothing of the pod is left on the node. */
  finished(pod: Pod): void;
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
}

interface PodReportsDeps {
  readonly desired: Pick<DesiredPods, "byUid" | "resolveUid">;
  readonly lives: Pick<MirrorLives, "end">;
  readonly sender: {
    reconcile(uid: string): void;
    finished(pod: Pod): void;
    forget(uid: string): void;
    podUids(): readonly string[];
  };
  readonly startLatency: {
    show(pod: Pod): void;
    forget(uid: string): void;
    podUids(): readonly string[];
  };
}

export function createPodReports({ desired, lives, sender, startLatency }: PodReportsDeps): PodReports {
  return {
    show(pod) {
      const uid = desired.resolveUid(podUid(pod));
      // A mirror may be shown whose static pod is gone or not known yet. Nothing would ever end the watch over its start.
      if (desired.byUid(uid) !== undefined) startLatency.show(pod);
      sender.reconcile(uid);
    },
    finished(pod) {
      lives.end(pod);
      sender.finished(pod);
    },
    forget(uid) {
      startLatency.forget(uid);
      // While a source names the pod, its status is still to be sent.
      if (desired.byUid(uid) === undefined) sender.forget(uid);
    },
    podUids: () => [...new Set([...sender.podUids(), ...startLatency.podUids()])],
  };
}
