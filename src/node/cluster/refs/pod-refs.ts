import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod } from "../../../api/pods.ts";
import type { ClusterTrustBundles } from "./cluster-trust-bundles.ts";
import type { ObjectRefs } from "./object-refs.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";

/** Which pods there are, to those who keep what pods refer to. */
export interface PodRefs {
  /** The API server shows this of a pod: what it names can be read from now on. */
  show(pod: Pod): void;
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
}

interface PodRefsDeps {
  readonly objects: Pick<ObjectRefs, "podUids" | "registerPod" | "subscribe" | "unregisterPod">;
  readonly tokens: Pick<ServiceAccountTokens, "forgetPod" | "podUids" | "subscribe">;
  readonly trustBundles: Pick<ClusterTrustBundles, "registerPod" | "subscribe" | "unregisterPod">;
  /** Called with each pod that names an object that has changed, or whose next token is due. */
  onChanged(podUid: string): void;
}

export function createPodRefs({ objects, tokens, trustBundles, onChanged }: PodRefsDeps): PodRefs {
  const tell = (podUids: readonly string[]) => {
    for (const uid of podUids) onChanged(uid);
  };
  objects.subscribe(({ podUids }) => tell(podUids));
  tokens.subscribe(onChanged);
  trustBundles.subscribe(tell);
  return {
    show(pod) {
      // A static pod refers to nothing of the API server, and neither does its mirror.
      if (isMirrorPod(pod)) return;
      objects.registerPod(pod);
      trustBundles.registerPod(pod);
    },
    forget(uid) {
      objects.unregisterPod(uid);
      trustBundles.unregisterPod(uid);
      tokens.forgetPod(uid);
    },
    podUids: () => [...objects.podUids(), ...tokens.podUids()],
  };
}
