import { type ApiError, alreadyExistsError, conflictError, notFoundError } from "../../../../api/api-error.ts";
import type { Pod } from "../../../../api/gen/types.ts";
import { type KubeResource, PODS } from "../../../../api/kube-resource.ts";
import { isMirrorPod, podFullName, podReference, podUid } from "../../../../api/pods.ts";
import { CONFIG_HASH_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "../../../../api/well-known.ts";
import { sleep } from "../../../../base/abort.ts";
import { type Log, silentLog } from "../../../../base/log.ts";
import { createSeededRandom } from "../../../../base/random.ts";
import { createFakeClock } from "../../../../host/fake/fake-clock.ts";
import {
  type KubeCallOptions,
  type KubeClient,
  type KubeDeleteOptions,
  KubeUnreachableError,
  type NamespacedName,
} from "../../../../kube/port.ts";
import { createMirrorPods } from "../mirror-pods.ts";

export const NODE = "node-1";
const SUBJECT = { group: "", resource: "pods" };

/** A pod from a manifest of that hash. */
export function staticPod(name: string, hash: string, spec: Partial<Pod["spec"]> = {}): Pod {
  return {
    metadata: {
      name,
      namespace: "kube-system",
      uid: hash,
      labels: { app: name },
      annotations: { [CONFIG_HASH_ANNOTATION]: hash, [CONFIG_SOURCE_ANNOTATION]: "file" },
    },
    spec: { containers: [{ name: "main", image: "i" }], nodeName: NODE, ...spec },
    status: { phase: "Running" },
  };
}

/** What goes wrong with one request. `lost`: it is not done. `unheard`: it is done, and the answer does not come. */
export type Fault = "lost" | "unheard" | ApiError;

/** Mirrors between a node's static pods and an API with latency, a watch that is behind, and faults on demand. */
export function createMirrorRig() {
  const clock = createFakeClock();
  const stored = new Map<string, Pod>();
  const copies = new Map<string, Pod>();
  const underWay = new Map<string, number>();
  let uids = 0;
  let nodeUid: string | undefined = "node-uid";
  const requests: string[] = [];
  const violations: string[] = [];
  const warnings: string[] = [];
  const rig = {
    clock,
    latencyMs: 10,
    watchDelayMs: 5,
    requests,
    /** What must never happen, in words. */
    violations,
    warnings,
    staticPods: new Map<string, Pod>(),
    ending: new Set<string>(),
    /** UIDs of mirrors. */
    outlived: new Set<string>(),
    sourcesReady: true,
    fault: (_request: string): Fault | undefined => undefined,
  };

  const show = (fullName: string) => {
    const pod = stored.get(fullName);
    clock.setTimer(rig.watchDelayMs, () => {
      if (pod === undefined) copies.delete(fullName);
      else copies.set(fullName, pod);
      update();
    });
  };
  const put = (pod: Pod): Pod => {
    const kept: Pod = { ...pod, metadata: { ...pod.metadata, uid: `m${++uids}` } };
    stored.set(podFullName(pod), kept);
    show(podFullName(pod));
    return kept;
  };
  const request = async <T>(verb: string, name: NamespacedName, options: KubeCallOptions, act: () => T): Promise<T> => {
    const what = `${verb} ${name.name}`;
    rig.requests.push(what);
    const count = (underWay.get(name.name) ?? 0) + 1;
    underWay.set(name.name, count);
    if (count > 1) rig.violations.push(`${count} requests at once for ${name.name}`);
    try {
      await sleep(clock, rig.latencyMs / 2, options.signal);
      const fault = rig.fault(what);
      if (fault === "lost") throw new KubeUnreachableError("unreachable", "connection refused");
      if (fault !== undefined && fault !== "unheard") throw fault;
      const answer = act();
      await sleep(clock, rig.latencyMs / 2, options.signal);
      if (fault === "unheard") throw new KubeUnreachableError("unreachable", "connection reset");
      return answer;
    } finally {
      underWay.set(name.name, (underWay.get(name.name) ?? 1) - 1);
    }
  };
  const require = ({ namespace, name }: NamespacedName): Pod => {
    const pod = stored.get(`${name}_${namespace}`);
    if (pod === undefined) throw notFoundError(SUBJECT, name);
    return pod;
  };
  const create = (pod: Pod): Pod => {
    const { name } = podReference(pod);
    if (stored.has(podFullName(pod))) throw alreadyExistsError(SUBJECT, name);
    if (!isMirrorPod(pod)) rig.violations.push(`${name} is created and no mirror`);
    return put(pod);
  };
  const remove = (name: NamespacedName, { uid, gracePeriodSeconds }: KubeDeleteOptions) => {
    const pod = require(name);
    if (uid !== podUid(pod)) throw conflictError(SUBJECT, name.name, "Precondition failed: UID in precondition");
    if (gracePeriodSeconds !== 0) rig.violations.push(`${name.name} is deleted with a grace period`);
    if (!isMirrorPod(pod)) rig.violations.push(`${name.name} is deleted and no mirror`);
    if ((pod.metadata?.finalizers ?? []).length > 0) {
      mark(name.name);
      return;
    }
    stored.delete(podFullName(pod));
    show(podFullName(pod));
  };
  const mark = (name: string) => {
    for (const [fullName, pod] of stored) {
      if (pod.metadata?.name !== name) continue;
      stored.set(fullName, { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
      show(fullName);
    }
  };
  const client: Pick<KubeClient, "create" | "delete" | "get"> = {
    get: async <T>(resource: KubeResource<T>, name: NamespacedName, options: KubeCallOptions = {}) =>
      await request("get", name, options, () => resource.read(require(name))),
    create: async <T>(resource: KubeResource<T>, object: T, options: KubeCallOptions = {}) => {
      const pod = PODS.read(object);
      return await request("create", podReference(pod), options, () => resource.read(create(pod)));
    },
    delete: async <T>(_resource: KubeResource<T>, name: NamespacedName, options: KubeDeleteOptions = {}) =>
      await request("delete", name, options, () => remove(name, options)),
  };
  const log: Log = { ...silentLog, warn: (message) => void rig.warnings.push(message), with: () => log };
  const mirrors = createMirrorPods({ client, clock, random: createSeededRandom(1), log }, { nodeName: NODE });
  const update = () =>
    mirrors.update({
      staticPods: [...rig.staticPods.values()],
      mirrorPods: [...copies.values()].filter((pod) => isMirrorPod(pod) && pod.spec?.nodeName === NODE),
      nodeUid,
      sourcesReady: rig.sourcesReady,
      isOutlived: (mirror) => rig.outlived.has(podUid(mirror)),
      isEnding: (fullName) => rig.ending.has(fullName),
    });
  const stop = new AbortController();

  return Object.assign(rig, {
    run: (): Promise<void> => mirrors.run(stop.signal),
    stop: () => stop.abort(),
    update,
    setNodeUid(uid: string | undefined) {
      nodeUid = uid;
    },
    /** These are the static pods from now on. */
    want(...pods: Pod[]) {
      rig.staticPods.clear();
      for (const pod of pods) rig.staticPods.set(podFullName(pod), pod);
      update();
    },
    /** Somebody creates a pod in the API. */
    put,
    /** Somebody deletes a pod, which the node is to end. */
    mark,
    /** Somebody deletes a pod at once, or its last finalizer. */
    purge(name: string) {
      for (const [fullName, pod] of stored) {
        if (pod.metadata?.name === name && stored.delete(fullName)) show(fullName);
      }
    },
    get: (name: string) => [...stored.values()].find(({ metadata }) => metadata?.name === name),
  });
}
