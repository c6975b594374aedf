import { isApiError, notFoundError } from "../../../api/api-error.ts";
import type { ClusterTrustBundleProjection, LabelSelector, ObjectMeta, Pod } from "../../../api/gen/types.ts";
import type { KubeResource } from "../../../api/kube-resource.ts";
import { isRecord } from "../../../api/object.ts";
import { podReference } from "../../../api/pods.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { aborted, childController, sleep } from "../../../base/abort.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import { createReflector, type ReflectorDeps } from "../../../kube/create-reflector.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { Reflector, ReflectorChange } from "../../../kube/reflector.ts";

/**
 * The trust bundles of the cluster, for the pods that show some of them. They are followed only while there is such a
 * pod.
 */
export interface ClusterTrustBundles {
  /**
   * Returns the PEM texts of the bundles. Rejects with an ApiError NotFound for a name that does not exist, and with
   * another error while the bundles have not been read.
   */
  bundles(selection: TrustBundleSelection, signal: AbortSignal): Promise<readonly string[]>;
  /** Registers the pod; called again for a pod that changed. */
  registerPod(pod: Pod): void;
  unregisterPod(podUid: string): void;
  /**
   * The listener is called with the pods that a change may concern. It must not throw. Returns a function that ends the
   * subscription.
   */
  subscribe(listener: (podUids: readonly string[]) => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

/** Selects one bundle by its name, or all bundles of a signer with these labels (without a selector, none of them). */
export type TrustBundleSelection =
  | { readonly name: string }
  | { readonly signerName: string; readonly labelSelector: LabelSelector | undefined };

/** The parts of a `ClusterTrustBundle` that matter here. */
interface TrustBundle {
  readonly metadata: ObjectMeta;
  readonly signerName: string;
  readonly trustBundle: string;
}

const SYNC_WAIT_MS = SECOND;
/** A server that has the kind in no version may be upgraded; until then it is asked only this often. */
const NOT_SERVED_WAIT_MS = 5 * MINUTE;

const VERSIONS = ["v1beta1", "v1alpha1"].map(resourceOf);

/** One version of the kind, followed until it turns out not to be served. */
interface Following {
  readonly reflector: Reflector<TrustBundle>;
  readonly controller: AbortController;
  failure: unknown;
}

export function createClusterTrustBundles(deps: ReflectorDeps): ClusterTrustBundles {
  const { clock, log } = deps;
  const pods = new Map<string, readonly ClusterTrustBundleProjection[]>();
  const listeners = new Set<(podUids: readonly string[]) => void>();
  /** An index into `VERSIONS`; it is past their end when the server has none of them. */
  let versionIndex = 0;
  let following: Following | undefined;
  /** Called when the first pod has come or the last has gone. */
  let demandChanged = (): void => undefined;

  const tellChanges = (changes: ReadonlyArray<ReflectorChange<TrustBundle>>) => {
    const touched = changes.flatMap(({ object, previous }) => [object, ...(previous ? [previous] : [])]);
    const podUids = [...pods].flatMap(([podUid, projections]) => {
      const isConcerned = projections.some((projection) => touched.some((bundle) => mayShow(projection, bundle)));
      return isConcerned ? [podUid] : [];
    });
    if (podUids.length > 0) for (const listener of listeners) listener(podUids);
  };

  const begin = (resource: KubeResource<TrustBundle>): Following => {
    const controller = new AbortController();
    const onFailure = (error: unknown) => {
      begun.failure = error;
      if (!begun.reflector.hasSynced && isApiError(error, "NotFound")) controller.abort();
    };
    const reflector = createReflector(deps, { resource, onChange: tellChanges, onFailure });
    const begun: Following = { reflector, controller, failure: undefined };
    return begun;
  };

  /**
   * Returns what is followed; undefined where the server has no version of the kind. A caller that asks before `run`
   * has begun waits for the same one.
   */
  const currentFollowing = (): Following | undefined => {
    const resource = VERSIONS[versionIndex];
    if (following === undefined && resource !== undefined) following = begin(resource);
    return following;
  };

  const followOne = async ({ reflector, controller }: Following, signal: AbortSignal) => {
    const stop = () => controller.abort();
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    try {
      await reflector.run(controller.signal);
    } finally {
      signal.removeEventListener("abort", stop);
      following = undefined;
    }
    if (!signal.aborted) versionIndex++;
  };

  const follow = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const current = currentFollowing();
      if (current !== undefined) {
        await followOne(current, signal);
        continue;
      }
      log.info("The API server serves no ClusterTrustBundles", { versions: VERSIONS.map(({ version }) => version) });
      await sleep(clock, NOT_SERVED_WAIT_MS, signal).catch(() => undefined);
      versionIndex = 0;
    }
  };

  const runUntilDemandChanges = async (signal: AbortSignal) => {
    const { controller, release } = childController(signal);
    demandChanged = () => controller.abort();
    try {
      if (pods.size === 0) await aborted(controller.signal);
      else await follow(controller.signal);
    } finally {
      demandChanged = () => undefined;
      release();
    }
  };

  const unregister = (podUid: string) => {
    if (pods.delete(podUid) && pods.size === 0) demandChanged();
  };

  return {
    async bundles(selection, signal) {
      const reflector = await sync(deps, currentFollowing(), signal);
      if (!("name" in selection)) return selectBundles(reflector.list(), selection);
      const found = reflector.get("", selection.name);
      if (found !== undefined) return [found.trustBundle];
      throw notFoundError({ group: "certificates.k8s.io", resource: "clustertrustbundle" }, selection.name);
    },
    registerPod(pod) {
      const { uid } = podReference(pod);
      const projections = projectionsOf(pod);
      if (projections.length === 0) return unregister(uid);
      const isFirst = pods.size === 0;
      pods.set(uid, projections);
      if (isFirst) demandChanged();
    },
    unregisterPod: unregister,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async run(signal) {
      while (!signal.aborted) await runUntilDemandChanges(signal);
    },
  };
}

async function sync(
  { clock }: ReflectorDeps,
  following: Following | undefined,
  signal: AbortSignal,
): Promise<Reflector<TrustBundle>> {
  if (following === undefined) {
    throw new Error("ClusterTrustBundle projection is not supported: the API server does not serve that kind");
  }
  const { reflector } = following;
  const limit = { timeoutMs: SYNC_WAIT_MS, signal };
  if (await endsInTime(clock, limit, async (inTime) => await reflector.synced(inTime))) return reflector;
  const reason = following.failure === undefined ? "" : `: ${describeKubeFailure(following.failure)}`;
  throw new Error(`ClusterTrustBundle informer has not yet synced${reason}`);
}

/** Sorts the bundles by name, so that the same bundles always give the same result. */
function selectBundles(
  bundles: readonly TrustBundle[],
  selection: Extract<TrustBundleSelection, { signerName: string }>,
): string[] {
  const selector = labelSelectorOf(selection.labelSelector);
  return bundles
    .filter(({ signerName, metadata }) => signerName === selection.signerName && selector.matches(metadata.labels))
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
    .map(({ trustBundle }) => trustBundle);
}

function projectionsOf(pod: Pod): ClusterTrustBundleProjection[] {
  const sources = (pod.spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return sources.flatMap(({ clusterTrustBundle }) => (clusterTrustBundle ? [clusterTrustBundle] : []));
}

/** Tells whether the projection may show the bundle. Labels are not compared, because they may be what has changed. */
function mayShow({ name, signerName }: ClusterTrustBundleProjection, bundle: TrustBundle): boolean {
  return name === undefined ? signerName === bundle.signerName : name === bundle.metadata.name;
}

function resourceOf(version: string): KubeResource<TrustBundle> {
  const name = { group: "certificates.k8s.io", plural: "clustertrustbundles", kind: "ClusterTrustBundle" };
  return { ...name, version, namespaced: false, read: readTrustBundle };
}

function readTrustBundle(value: unknown): TrustBundle {
  const { metadata, spec } = isRecord(value) ? value : {};
  if (!isRecord(metadata) || !isRecord(spec)) throw new TypeError("expected an object of kind ClusterTrustBundle");
  const text = (field: unknown) => (typeof field === "string" ? field : "");
  const labels = Object.entries(isRecord(metadata["labels"]) ? metadata["labels"] : {});
  return {
    metadata: {
      name: text(metadata["name"]),
      uid: text(metadata["uid"]),
      resourceVersion: text(metadata["resourceVersion"]),
      labels: Object.fromEntries(labels.map(([key, label]) => [key, text(label)])),
    },
    signerName: text(spec["signerName"]),
    trustBundle: text(spec["trustBundle"]),
  };
}
