import type { Pod } from "../../../api/gen/types.ts";
import { isTerminalPhase, podUid } from "../../../api/pods.ts";
import { AbortedError } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import { createMailbox, type Mailbox } from "../../../base/mailbox.ts";
import type { NodePods, PodChange } from "../../../pods-api/port.ts";
import type { DesiredPods } from "../../pods/desired/desired-pods.ts";
import type { PodUpdates } from "../../pods/desired/follow-updates.ts";
import type { PodUpdate } from "../../pods/desired/pod-update.ts";
import type { PodStatuses, PublishedStatus } from "../../pods/status/pod-statuses.ts";

interface PodFeedDeps {
  readonly desired: Pick<DesiredPods, "pods" | "byUid">;
  readonly updates: PodUpdates;
  readonly statuses: Pick<PodStatuses, "get" | "subscribe" | "onRemove">;
  /** A watcher that does not read is given up, with what it was not told. */
  onDrop(): void;
}

/** As many changes wait for a watcher, as upstream; with the next one it is given up. */
const WAITING_CHANGES = 100;
/** Watches at a time, with those that were given up and are not read. More are refused. */
const MAX_WATCHERS = 100;

/** What has been seen of a pod since it has a status. */
interface Life {
  /** Something of it may have run. */
  hasRun: boolean;
  /** It has run and nothing of it runs any more: its watchers know it as deleted. */
  hasEnded: boolean;
}

interface Watcher {
  /** Pods that it knows of. */
  readonly told: Set<string>;
  readonly box: Mailbox<PodChange>;
  drop(): void;
}

/**
 * The node's pods as its gRPC API shows them (upstream: pkg/kubelet/apis/pods). A pod is told of from its first status on,
 * and is deleted for its watchers when nothing of it runs any more or it is gone, whichever comes first.
 */
export function createPodFeed(deps: PodFeedDeps): NodePods {
  const { desired, statuses } = deps;
  const lives = new Map<string, Life>();
  const watchers = new Set<Watcher>();
  let open = 0;

  const tell = (pod: Pod, isGone: boolean): void => {
    for (const watcher of watchers) {
      const change = changeFor(watcher, pod, isGone);
      if (change === undefined || watcher.box.offer(change)) continue;
      watchers.delete(watcher);
      watcher.drop();
      deps.onDrop();
    }
  };
  const withStatus = (pod: Pod): Pod => {
    const status = statuses.get(podUid(pod));
    return status === undefined ? pod : { ...pod, status };
  };
  const hearStatus = ({ pod, status, mayRun = false }: PublishedStatus): void => {
    const uid = podUid(pod);
    const newest = desired.byUid(uid);
    const life = lives.get(uid) ?? { hasRun: false, hasEnded: false };
    if (!lives.has(uid) && newest === undefined) return;
    lives.set(uid, life);
    if (life.hasEnded && !mayRun) return;
    life.hasEnded = life.hasRun && !mayRun && isTerminalPhase(status.phase);
    life.hasRun ||= mayRun;
    if (life.hasEnded) tell(pod, true);
    else tell({ ...(newest ?? pod), status }, false);
  };
  const hearUpdate = ({ op, pods }: PodUpdate): void => {
    for (const pod of pods) {
      const life = lives.get(podUid(pod));
      if (op === "REMOVE" && life?.hasRun !== true) tell(pod, true);
      if ((op === "UPDATE" || op === "DELETE") && life?.hasEnded === false) tell(withStatus(pod), false);
    }
  };

  statuses.subscribe(hearStatus);
  statuses.onRemove((pod) => {
    if (lives.delete(podUid(pod))) tell(pod, true);
  });
  deps.updates.subscribe(hearUpdate);

  const list = () => desired.pods().map(withStatus).sort(byUid);
  return {
    list,
    get(uid) {
      const pod = desired.byUid(uid);
      return pod && withStatus(pod);
    },
    async *watch(signal) {
      if (open >= MAX_WATCHERS) throw new CodedError("resource-exhausted", "there are too many watches");
      open++;
      try {
        yield* watch({ watchers, list, signal });
      } finally {
        open--;
      }
    },
  };
}

function byUid(left: Pod, right: Pod): number {
  return podUid(left) < podUid(right) ? -1 : 1;
}

/** Undefined: the watcher needs not hear of it. */
function changeFor({ told }: Watcher, pod: Pod, isGone: boolean): PodChange | undefined {
  const uid = podUid(pod);
  const isKnown = told.has(uid);
  if (!isGone) {
    told.add(uid);
    return { type: isKnown ? "modified" : "added", pod };
  }
  if (!isKnown) return undefined;
  told.delete(uid);
  const { name = "", namespace = "" } = pod.metadata ?? {};
  return { type: "deleted", pod: { metadata: { name, namespace, uid } } };
}

interface Watch {
  readonly watchers: Set<Watcher>;
  list(): readonly Pod[];
  readonly signal: AbortSignal;
}

async function* watch({ watchers, list, signal }: Watch): AsyncIterable<PodChange> {
  const dropped = new AbortController();
  const pods = list();
  const watcher: Watcher = {
    told: new Set(pods.map(podUid)),
    box: createMailbox<PodChange>(WAITING_CHANGES),
    drop: () => dropped.abort(),
  };
  watchers.add(watcher);
  const ends = AbortSignal.any([signal, dropped.signal]);
  try {
    for (const pod of pods) {
      if (ends.aborted) throw new AbortedError();
      yield { type: "added", pod };
    }
    yield { type: "synced" };
    for (;;) yield await watcher.box.take(ends);
  } catch (error) {
    if (!dropped.signal.aborted || signal.aborted) throw error;
    throw new CodedError("resource-exhausted", "watch client channel closed");
  } finally {
    watchers.delete(watcher);
  }
}
