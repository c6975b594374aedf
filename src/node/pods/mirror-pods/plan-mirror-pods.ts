import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod, podFullName } from "../../../api/pods.ts";
import { findForbiddenReference, manifestHash, mirroredHash } from "./make-mirror-pod.ts";

/** The facts that decide which mirror pods there should be. */
export interface MirrorView {
  /** The static pods that were admitted, running or finished; at most one of a full name. */
  readonly staticPods: readonly Pod[];
  /** The mirror pods in the last snapshot of the API source. */
  readonly mirrorPods: readonly Pod[];
  /** The UID of the Node object; undefined until the node is registered. */
  readonly nodeUid: string | undefined;
  /** Every source was read: the absence of a static pod has no meaning before. */
  readonly sourcesReady: boolean;
  /**
   * The static pod that the mirror showed has ended. A new one of the same manifest needs another mirror, because the
   * API server lets no status begin anew.
   */
  isOutlived(mirror: Pod): boolean;
  /** A static pod of that full name is still being stopped: its mirror stays until its grace period is over. */
  isEnding(fullName: string): boolean;
}

/** An action in the API server. A mirror that is replaced is a deletion, then a creation. */
export type MirrorAction =
  | { readonly kind: "delete"; readonly fullName: string; readonly mirror: Pod }
  | { readonly kind: "create"; readonly fullName: string; readonly staticPod: Pod; readonly nodeUid: string };

/**
 * Brings the mirrors in line with the static pods: each has one of its manifest's hash, and there are no others
 * (upstream: `tryReconcileMirrorPods` in pkg/kubelet/kubelet.go and the orphaned mirrors of `HandlePodCleanups`).
 */
export function planMirrorPods(view: MirrorView): MirrorAction[] {
  const staticPods = new Map(view.staticPods.map((pod) => [podFullName(pod), pod]));
  const mirrors = new Map(view.mirrorPods.filter(isMirrorPod).map((pod) => [podFullName(pod), pod]));
  const names = new Set([...staticPods.keys(), ...mirrors.keys()]);
  return [...names].flatMap((fullName) => {
    if (view.isEnding(fullName)) return [];
    const [staticPod, mirror] = [staticPods.get(fullName), mirrors.get(fullName)];
    if (staticPod === undefined) {
      return mirror !== undefined && view.sourcesReady ? [{ kind: "delete" as const, fullName, mirror }] : [];
    }
    return planMirrorOf(staticPod, mirror, { fullName, view });
  });
}

function planMirrorOf(
  staticPod: Pod,
  mirror: Pod | undefined,
  { fullName, view }: { fullName: string; view: MirrorView },
): MirrorAction[] {
  const { nodeUid } = view;
  if (mirror !== undefined && isMirrorOf(mirror, staticPod) && !view.isOutlived(mirror)) return [];
  const deletion = mirror === undefined ? [] : [{ kind: "delete" as const, fullName, mirror }];
  if (nodeUid === undefined || findForbiddenReference(staticPod) !== undefined) return deletion;
  return [...deletion, { kind: "create" as const, fullName, staticPod, nodeUid }];
}

/** A mirror that is marked for deletion counts as gone: it is replaced, and its static pod runs on. */
function isMirrorOf(mirror: Pod, staticPod: Pod): boolean {
  return mirror.metadata?.deletionTimestamp === undefined && mirroredHash(mirror) === manifestHash(staticPod);
}
