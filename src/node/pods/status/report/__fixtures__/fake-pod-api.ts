import { type ApiError, conflictError, invalidError, notFoundError } from "../../../../../api/api-error.ts";
import type { Pod, PodStatus } from "../../../../../api/gen/types.ts";
import { type KubeResource, PODS } from "../../../../../api/kube-resource.ts";
import { applyStrategicMergePatch } from "../../../../../api/patch/strategic-merge.ts";
import { isMirrorPod, isTerminalPhase, podUid } from "../../../../../api/pods.ts";
import { servedNode } from "../../../../../api/schema-node.ts";
import { AbortedError, sleep } from "../../../../../base/abort.ts";
import type { Clock } from "../../../../../base/clock.ts";
import {
  type KubeCallOptions,
  type KubeClient,
  type KubeDeleteOptions,
  type KubePatch,
  KubeUnreachableError,
  type NamespacedName,
  type SubresourceOptions,
} from "../../../../../kube/port.ts";

/** A fault of one request. `lost`: it is not done. `unheard`: it is done, and the answer does not come. */
export type Fault = "lost" | "unheard" | "timed-out" | ApiError;

interface FakePodApi {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  /** `patch a`, `delete a`, in the order in which they came. */
  readonly requests: string[];
  /** The bodies of the patches. */
  readonly patches: object[];
  /** Descriptions of requests that must never be made. */
  readonly violations: string[];
  readonly mostAtOnce: number;
  latencyMs: number;
  watchDelayMs: number;
  /** Asked for every request. */
  fault: (request: string) => Fault | undefined;
  /** Changes a status that the server takes, as an old server drops fields. */
  decode: (status: PodStatus) => PodStatus;
  /** Somebody creates a pod or changes it. */
  put(pod: Pod): void;
  change(name: string, change: (pod: Pod) => Pod): void;
  remove(name: string): void;
  get(name: string): Pod | undefined;
  /** The pod as the watch has brought it so far. */
  copyOf(name: string): Pod | undefined;
  onWatch: (name: string) => void;
}

const POD_NODE = servedNode("Pod");
const SUBJECT = { group: "", resource: "pods" };
const POD_KIND = { group: "", kind: "Pod" };
const IMMUTABLE_UID = { path: "metadata.uid", message: "Invalid value: field is immutable" };

/** An API server that knows pods only, with latency, a watch that is behind, and faults on demand. */
export function createFakePodApi(clock: Clock): FakePodApi {
  const stored = new Map<string, Pod>();
  const copies = new Map<string, Pod>();
  const underWay = new Map<string, number>();
  let revision = 100;
  let mostAtOnce = 0;

  const show = (name: string) => {
    const pod = stored.get(name);
    clock.setTimer(api.watchDelayMs, () => {
      if (pod === undefined) copies.delete(name);
      else copies.set(name, pod);
      api.onWatch(name);
    });
  };
  const store = (name: string, pod: Pod) => {
    revision++;
    stored.set(name, { ...pod, metadata: { ...pod.metadata, resourceVersion: String(revision) } });
    show(name);
  };
  const require = ({ name }: NamespacedName): Pod => {
    const pod = stored.get(name);
    if (pod === undefined) throw notFoundError(SUBJECT, name);
    return pod;
  };
  const expectUid = (pod: Pod, uid: string | undefined) => {
    const { name = "" } = pod.metadata ?? {};
    if (uid !== undefined && uid !== podUid(pod)) throw conflictError(SUBJECT, name, "Precondition failed: UID");
  };

  const request = async <T>(
    verb: string,
    { name }: NamespacedName,
    options: KubeCallOptions,
    act: () => T,
  ): Promise<T> => {
    const what = `${verb} ${name}`;
    api.requests.push(what);
    const count = (underWay.get(name) ?? 0) + 1;
    underWay.set(name, count);
    if (count > 1) api.violations.push(`${count} requests at once for ${name}`);
    mostAtOnce = Math.max(
      mostAtOnce,
      [...underWay.values()].reduce((sum, each) => sum + each, 0),
    );
    try {
      if (options.signal?.aborted) throw new AbortedError();
      await sleep(clock, api.latencyMs / 2, options.signal);
      const fault = api.fault(what);
      if (fault === "lost") throw new KubeUnreachableError("unreachable", "connection refused");
      if (fault === "timed-out") throw new KubeUnreachableError("timed-out", "no answer");
      if (fault !== undefined && fault !== "unheard") throw fault;
      const answer = act();
      await sleep(clock, api.latencyMs / 2, options.signal);
      if (fault === "unheard") throw new KubeUnreachableError("unreachable", "connection reset");
      return answer;
    } finally {
      underWay.set(name, (underWay.get(name) ?? 1) - 1);
    }
  };

  const patchStatus = (name: NamespacedName, { type, body }: KubePatch, { subresource }: SubresourceOptions): Pod => {
    if (type !== "strategic" || subresource !== "status") throw new Error("only statuses are patched, strategically");
    api.patches.push(body);
    const before = require(name);
    const patched = PODS.read(applyStrategicMergePatch(before, body, POD_NODE));
    if (podUid(patched) !== podUid(before)) throw invalidError(POD_KIND, name.name, [IMMUTABLE_UID]);
    if (patched.metadata?.resourceVersion !== before.metadata?.resourceVersion) {
      throw conflictError(SUBJECT, name.name, "the object has been modified");
    }
    const status = api.decode(patched.status ?? {});
    if (isTerminalPhase(before.status?.phase) && status.phase !== before.status?.phase) {
      api.violations.push(`${name.name} went from ${before.status?.phase} to ${status.phase}`);
    }
    if (JSON.stringify(status) !== JSON.stringify(before.status)) store(name.name, { ...before, status });
    return require(name);
  };

  const remove = (name: NamespacedName, { uid, gracePeriodSeconds }: KubeDeleteOptions) => {
    const pod = require(name);
    expectUid(pod, uid);
    if (gracePeriodSeconds !== 0) api.violations.push(`${name.name} is deleted with a grace period`);
    if (isMirrorPod(pod)) api.violations.push(`the mirror ${name.name} is deleted`);
    if (!isTerminalPhase(pod.status?.phase)) api.violations.push(`${name.name} is deleted while ${pod.status?.phase}`);
    api.remove(name.name);
  };

  const api: FakePodApi = {
    client: {
      get: async <T>(resource: KubeResource<T>, name: NamespacedName, options: KubeCallOptions = {}) =>
        await request("get", name, options, () => resource.read(require(name))),
      patch: async <T>(
        resource: KubeResource<T>,
        name: NamespacedName,
        patch: KubePatch,
        options: SubresourceOptions = {},
      ) => await request("patch", name, options, () => resource.read(patchStatus(name, patch, options))),
      delete: async <T>(_resource: KubeResource<T>, name: NamespacedName, options: KubeDeleteOptions = {}) =>
        await request("delete", name, options, () => remove(name, options)),
    },
    requests: [],
    patches: [],
    violations: [],
    latencyMs: 10,
    watchDelayMs: 5,
    fault: () => undefined,
    decode: (status) => status,
    put: (pod) => store(pod.metadata?.name ?? "", pod),
    change(name, change) {
      const pod = stored.get(name);
      if (pod !== undefined) store(name, change(pod));
    },
    remove(name) {
      if (stored.delete(name)) show(name);
    },
    get: (name) => stored.get(name),
    copyOf: (name) => copies.get(name),
    onWatch: () => undefined,
    get mostAtOnce() {
      return mostAtOnce;
    },
  };
  return api;
}
