import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod } from "../../../api/pods.ts";
import type { ClusterTrustBundles } from "./cluster-trust-bundles.ts";
import type { ObjectRefs } from "./object-refs.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";

/** The keeper of pods' certificates, which builds on this folder. */
interface PodCertificates {
  registerPod(pod: Pod): void;
  unregisterPod(podUid: string): void;
  subscribe(listener: (podUid: string) => void): () => void;
}

/** Tells the keepers of pods' references which pods there are. */
export interface PodRefs {
  /** Takes a pod as the API server shows it. What the pod names can be read from now on. */
  show(pod: Pod): void;
  forget(uid: string): void;
  /** Returns the UIDs of the pods of which something is held. */
  podUids(): readonly string[];
}

interface PodRefsDeps {
  readonly objects: Pick<ObjectRefs, "podUids" | "registerPod" | "subscribe" | "unregisterPod">;
  readonly tokens: Pick<ServiceAccountTokens, "forgetPod" | "podUids" | "subscribe">;
  readonly trustBundles: Pick<ClusterTrustBundles, "registerPod" | "subscribe" | "unregisterPod">;
  readonly certificates: PodCertificates;
  /** Called with each pod that names an object that has changed, or whose next token is due. */
  onChanged(podUid: string): void;
}

export function createPodRefs({ objects, tokens, trustBundles, certificates, onChanged }: PodRefsDeps): PodRefs {
  const tell = (podUids: readonly string[]) => {
    for (const uid of podUids) onChanged(uid);
  };
  objects.subscribe(({ podUids }) => tell(podUids));
  tokens.subscribe(onChanged);
  trustBundles.subscribe(tell);
  certificates.subscribe(onChanged);
  return {
    show(pod) {
      // Neither a static pod nor its mirror refers to anything of the API server.
      if (isMirrorPod(pod)) return;
      objects.registerPod(pod);
      trustBundles.registerPod(pod);
      certificates.registerPod(pod);
    },
    forget(uid) {
      objects.unregisterPod(uid);
      trustBundles.unregisterPod(uid);
      certificates.unregisterPod(uid);
      tokens.forgetPod(uid);
    },
    podUids: () => [...objects.podUids(), ...tokens.podUids()],
  };
}
