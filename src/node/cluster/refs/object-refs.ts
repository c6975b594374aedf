import type { ConfigMap, Pod, Secret } from "../../../api/gen/types.ts";
import { CONFIG_MAPS, type KubeResource, SECRETS } from "../../../api/kube-resource.ts";
import { podReference } from "../../../api/pods.ts";
import { childController } from "../../../base/abort.ts";
import { assertNever } from "../../../base/assert.ts";
import type { Clock } from "../../../base/clock.ts";
import { throwJoined } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createCachedObjects, createFetchedObjects } from "./cached-objects.ts";
import {
  countObjects,
  listNamedObjects,
  listObjectsOfVolumes,
  MAX_NAMED_OBJECTS,
  type NamedObjects,
} from "./named-objects.ts";
import type { Referable, ReferencedObjects, ReferencedObjectsDeps } from "./referenced-objects.ts";
import { createWatchedObjects } from "./watched-objects.ts";

/** The secrets and config maps that the node's pods name. */
export interface ObjectRefs {
  /**
   * Reads a secret. Rejects with an ApiError NotFound when it does not exist; with an ObjectRefError when no registered
   * pod names it (the strategy Get reads it all the same) and, after a second, when the server does not give it.
   */
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret>;
  /** Reads a config map, as `secret` reads a secret. */
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap>;
  /** Makes what the pod names readable from now on. Called again for a pod that changed. */
  registerPod(pod: Pod): void;
  unregisterPod(uid: string): void;
  /** Returns the UIDs of the registered pods. */
  podUids(): readonly string[];
  /**
   * The listener is called when an object no longer is what some pod was told, with all pods that name it. It must not
   * throw. Returns a function that ends the subscription. With the strategy Get it is never called.
   */
  subscribe(listener: ObjectRefListener): () => void;
  /** Keeps the copies up to date until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

/** The listener of `ObjectRefs.subscribe`. */
type ObjectRefListener = (change: ObjectRefChange) => void;

interface ObjectRefChange {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespace: string;
  readonly name: string;
  /** The pods that name the object. */
  readonly podUids: readonly string[];
}

interface ObjectRefsDeps {
  readonly client: Pick<KubeClient, "get" | "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface ObjectRefsOptions {
  /** `configMapAndSecretChangeDetectionStrategy`. */
  readonly strategy: "Watch" | "Cache" | "Get";
  /**
   * For Cache: how old a copy may be, as the node's annotation `node.alpha.kubernetes.io/ttl` says. Default, and for
   * undefined: a minute.
   */
  readonly ttlMs?: () => number | undefined;
}

interface RegisteredPod {
  readonly namespace: string;
  readonly references: NamedObjects;
}

/** Returns the strategy that the validated configuration names. */
export function readRefStrategy(name: string): ObjectRefsOptions["strategy"] {
  return name === "Cache" || name === "Get" ? name : "Watch";
}

export function createObjectRefs(deps: ObjectRefsDeps, options: ObjectRefsOptions): ObjectRefs {
  const listeners = new Set<ObjectRefListener>();
  const pods = new Map<string, RegisteredPod>();

  const createObjects = <T extends Referable>(resource: KubeResource<T>, kind: ObjectRefChange["kind"]) => {
    const onChange: ReferencedObjectsDeps<T>["onChange"] = ({ namespace, name }, podUids) => {
      for (const listener of listeners) listener({ kind, namespace, name, podUids });
    };
    return createStrategy<T>({ ...deps, resource, onChange }, options);
  };
  const secrets = createObjects(SECRETS, "Secret");
  const configMaps = createObjects(CONFIG_MAPS, "ConfigMap");
  const kinds: ReadonlyArray<readonly [keyof NamedObjects, Pick<ReferencedObjects<unknown>, "add" | "remove">]> = [
    ["secrets", secrets],
    ["configMaps", configMaps],
  ];

  const forget = (podUid: string, { namespace, references }: RegisteredPod, kept?: NamedObjects) => {
    for (const [kind, objects] of kinds) {
      const gone = references[kind].filter((name) => kept?.[kind].includes(name) !== true);
      for (const name of gone) objects.remove({ namespace, name }, podUid);
    }
  };

  return {
    secret: async (namespace, name, signal) => secrets.get({ namespace, name }, signal),
    configMap: async (namespace, name, signal) => configMaps.get({ namespace, name }, signal),
    registerPod(pod) {
      const { uid, namespace } = podReference(pod);
      const named = listNamedObjects(pod);
      const references = countObjects(named) > MAX_NAMED_OBJECTS ? NO_OBJECTS : named;
      const inVolumes = listObjectsOfVolumes(pod);
      const mounted = { secrets: new Set(inVolumes.secrets), configMaps: new Set(inVolumes.configMaps) };
      const before = pods.get(uid);
      pods.set(uid, { namespace, references });
      for (const [kind, objects] of kinds) {
        for (const name of references[kind]) {
          objects.add({ namespace, name }, { podUid: uid, isMounted: mounted[kind].has(name) });
        }
      }
      if (before !== undefined) forget(uid, before, references);
    },
    unregisterPod(uid) {
      const pod = pods.get(uid);
      pods.delete(uid);
      if (pod !== undefined) forget(uid, pod);
    },
    podUids: () => [...pods.keys()],
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    run: async (signal) => runTogether([secrets, configMaps], signal),
  };
}

/** What is registered of a pod that is refused. */
const NO_OBJECTS: NamedObjects = { secrets: [], configMaps: [] };

function createStrategy<T extends Referable>(
  deps: ReferencedObjectsDeps<T>,
  { strategy, ttlMs = () => undefined }: ObjectRefsOptions,
): ReferencedObjects<T> {
  switch (strategy) {
    case "Watch":
      return createWatchedObjects(deps);
    case "Cache":
      return createCachedObjects(deps, ttlMs);
    case "Get":
      return createFetchedObjects(deps);
    default:
      return assertNever(strategy, "change detection strategy");
  }
}

/** Runs all parts until the signal fires. When one crashes the others end too. */
async function runTogether(
  parts: ReadonlyArray<Pick<ReferencedObjects<unknown>, "run">>,
  signal: AbortSignal,
): Promise<void> {
  const { controller, release } = childController(signal);
  const outcomes = await Promise.allSettled(
    parts.map(async ({ run }) => run(controller.signal).finally(() => controller.abort())),
  );
  release();
  const failures = outcomes.flatMap((outcome): unknown[] => (outcome.status === "rejected" ? [outcome.reason] : []));
  throwJoined(failures, "objects that pods refer to");
}
