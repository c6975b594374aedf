import { isApiError } from "../../../api/api-error.ts";
import type { CSINode, Node } from "../../../api/gen/types.ts";
import { CSI_NODES } from "../../../api/kube-resource.ts";
import { isAbort, sleep, throwIfAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox } from "../../../base/mailbox.ts";
import { jitter, type Random } from "../../../base/random.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { type CsiFacts, withoutCollisions } from "./csi-node-facts.ts";
import { type OwningNode, planCsiNode, withoutChangedDrivers } from "./plan-csi-node.ts";

/** Keeps the node's CSINode in line with the drivers on it. */
interface CsiNodeObject {
  /** Waits for the node object, then makes the CSINode and keeps it, until the signal fires. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Returns why the node is not ready yet: a pod that comes before the CSINode would find its driver missing. Returns
   * undefined for good as soon as the object has been in line once.
   */
  error(): string | undefined;
}

interface CsiNodeObjectDeps {
  readonly client: Pick<KubeClient, "get" | "create" | "replace">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly drivers: CsiFactsSource;
  readonly node: NodeSource;
  /** Called when `error` has changed. */
  onError?(): void;
}

/** The part of the driver registry that is needed here. */
interface CsiFactsSource {
  facts(): CsiFacts;
  subscribe(listener: () => void): () => void;
}

/** The part of the node's registration that is needed here. */
interface NodeSource {
  nodeReady(signal: AbortSignal): Promise<Node>;
  /** Returns the node object as it was last seen. */
  node(): Node | undefined;
  /** The listener is called when another object has taken the name. */
  subscribe(listener: () => void): () => void;
}

const CALL_TIMEOUT_MS = 10 * SECOND;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 30 * SECOND;
const RETRY_JITTER = 0.5;
/** A driver that goes and comes back within this time, as one does whose socket is made anew, counts as one change. */
const SETTLE_MS = 100;
/** After this many conflicts in a row the write counts as failed, and the next try waits. */
const MAX_CONFLICTS = 5;

/**
 * Creates the writer of the CSINode. It reads the object before each write, so that others' changes are kept, and it
 * goes on trying whatever the API does. A later change of the object by others is seen only at the next change here, as
 * upstream has it.
 */
export function createCsiNodeObject(
  deps: CsiNodeObjectDeps,
  { nodeName }: { readonly nodeName: string },
): CsiNodeObject {
  const { client, clock, random, drivers } = deps;
  const log = deps.log.with({ csiNode: nodeName });
  const name = { namespace: "", name: nodeName };
  const tellCollisions = createCollisionWords(log);
  let error: string | undefined = "CSINode is not yet initialized";
  let isInitialized = false;

  const setError = (next: string | undefined) => {
    if (error === next || isInitialized) return;
    error = next;
    isInitialized = next === undefined;
    deps.onError?.();
  };

  const plan = (current: CSINode | undefined, node: Node): CSINode => {
    const { facts, collisions } = withoutCollisions(drivers.facts(), node.metadata?.labels ?? {});
    tellCollisions(collisions);
    const owner: OwningNode = { name: nodeName, uid: node.metadata?.uid ?? "" };
    return planCsiNode(current, owner, facts);
  };

  const read = async (call: KubeCall): Promise<CSINode | undefined> => {
    try {
      return await client.get(CSI_NODES, name, call);
    } catch (thrown) {
      if (isApiError(thrown, "NotFound")) return undefined;
      throw thrown;
    }
  };

  const write = async (signal: AbortSignal): Promise<void> => {
    const call = { timeoutMs: CALL_TIMEOUT_MS, signal };
    const node = deps.node.node() ?? (await deps.node.nodeReady(signal));
    const current = await read(call);
    const planned = plan(current, node);
    if (current === undefined) {
      await client.create(CSI_NODES, planned, call);
      return;
    }
    if (planned === current) return;
    try {
      await client.replace(CSI_NODES, planned, call);
    } catch (thrown) {
      if (!isApiError(thrown, "Invalid")) throw thrown;
      const updated = await client.replace(CSI_NODES, withoutChangedDrivers(current, planned), call);
      await client.replace(CSI_NODES, plan(updated, node), call);
    }
  };

  /** Other clients write the object too: the garbage collector, a storage driver's controller, an administrator. */
  const writeThroughConflicts = async (signal: AbortSignal): Promise<void> => {
    for (let conflicts = 0; ; conflicts++) {
      try {
        await write(signal);
        return;
      } catch (thrown) {
        const isConflict = isApiError(thrown, "Conflict") || isApiError(thrown, "AlreadyExists");
        if (!isConflict || conflicts === MAX_CONFLICTS) throw thrown;
      }
    }
  };

  const keepWriting = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0, delayMs = FIRST_RETRY_MS; ; failures++, delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
      try {
        await writeThroughConflicts(signal);
        if (failures > 0) log.info("The CSINode is in line again", { failures });
        return;
      } catch (thrown) {
        throwIfAborted(signal);
        const words = describeKubeFailure(thrown);
        if (failures === 0) log.warn("Cannot bring the CSINode in line, will retry", { error: words });
        else log.debug("Failed again to bring the CSINode in line", { error: words, failures });
        setError(`failed to initialize CSINode: ${words}`);
      }
      await sleep(clock, jitter(random, delayMs, RETRY_JITTER), signal);
    }
  };

  return {
    async run(signal) {
      const changed = createMailbox<"changed">(1);
      const onChange = () => changed.offer("changed");
      const stops = [drivers.subscribe(onChange), deps.node.subscribe(onChange)];
      try {
        await deps.node.nodeReady(signal);
        for (;;) {
          await keepWriting(signal);
          setError(undefined);
          await changed.take(signal);
          await sleep(clock, SETTLE_MS, signal);
        }
      } catch (thrown) {
        if (!isAbort(thrown)) throw thrown;
      } finally {
        for (const stop of stops) stop();
      }
    },
    error: () => error,
  };
}

interface KubeCall {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Logs each collision once while it lasts. */
function createCollisionWords(log: Log): (collisions: ReadonlyMap<string, string>) => void {
  let said: ReadonlyMap<string, string> = new Map();
  return (collisions) => {
    for (const [driver, error] of collisions) {
      if (said.get(driver) === error) continue;
      log.error("A CSI driver contradicts the node's labels and is not told to the cluster", { driver, error });
    }
    said = collisions;
  };
}
