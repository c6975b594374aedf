import { isApiError } from "../../../api/api-error.ts";
import type { Node } from "../../../api/gen/types.ts";
import { NODES } from "../../../api/kube-resource.ts";
import { sleep, throwIfAborted, untilAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { jitter, type Random } from "../../../base/random.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createFailureLog } from "./failure-log.ts";
import { computeNodePatch } from "./node-patch.ts";
import type { NodeStartup } from "./node-startup.ts";
import { reconcileExistingNode } from "./reconcile-node.ts";

/** Makes the node object or finds it, and follows it from then on. */
export interface NodeRegistration {
  /**
   * Creates the node, or brings the existing one in line with it, and tries until that is done. Where the node must not
   * register itself, waits until another client has made it. Rejects with AbortedError only. Two calls must not
   * overlap.
   */
  register(initialNode: Node, signal: AbortSignal): Promise<Node>;
  /** Resolves when the node object is known. Code that reads pods from the API waits for this. */
  nodeReady(signal: AbortSignal): Promise<Node>;
  /** Returns the node as it was last seen; undefined before that. */
  node(): Node | undefined;
  /** Code that reads or writes the node object passes it to this function. */
  observe(node: Node): void;
  /**
   * The listener is called with the first object, and with each later object of the same name that is a different one.
   * Everything that was made for the old object is then void.
   */
  subscribe(listener: (node: Node) => void): () => void;
  /** The listener is called with every version that is observed. */
  follow(listener: (node: Node) => void): () => void;
}

interface NodeRegistrationDeps {
  /** The client for heartbeats, which no other traffic slows down. */
  client: Pick<KubeClient, "get" | "create" | "patch">;
  clock: Clock;
  random: Random;
  log: Log;
  /** The startup is told how far the registration has come. */
  startup?: NodeStartup | undefined;
}

export interface NodeRegistrationOptions {
  readonly nodeName: string;
  readonly registerNode: boolean;
  /** The time bound of each call. */
  readonly timeoutMs: number;
  /**
   * True when the counts of extended resources of an existing node are set to 0. Default true, as upstream does where
   * no device plugin ran here before: device plugins must report their devices anew.
   */
  readonly resetExtendedResources?: boolean;
}

/**
 * The delays are upstream's (pkg/kubelet/kubelet_node_status.go, registerWithAPIServer), but the first attempt is made
 * at once.
 */
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 7_000;
/** The jitter keeps the nodes of a cluster from coming back in step after an outage. */
const RETRY_JITTER = 0.1;

export function createNodeRegistration(deps: NodeRegistrationDeps, options: NodeRegistrationOptions): NodeRegistration {
  const { client, clock, random, log, startup } = deps;
  const name = { namespace: "", name: options.nodeName };
  let latest: Node | undefined;
  let announce: (node: Node) => void = () => undefined;
  const known = new Promise<Node>((resolve) => {
    announce = resolve;
  });

  const listeners = new Set<(node: Node) => void>();
  const followers = new Set<(node: Node) => void>();

  const observe = (node: Node) => {
    const isAnother = latest?.metadata?.uid !== node.metadata?.uid;
    latest = node;
    startup?.observe(node);
    announce(node);
    if (isAnother) for (const listener of [...listeners]) listener(node);
    for (const follower of [...followers]) follower(node);
  };

  const find = async (signal: AbortSignal) => client.get(NODES, name, { signal, timeoutMs: options.timeoutMs });

  const reconcile = async (initialNode: Node, existing: Node, signal: AbortSignal): Promise<Node> => {
    const { resetExtendedResources = true } = options;
    const body = computeNodePatch(existing, reconcileExistingNode(initialNode, existing, { resetExtendedResources }));
    if (body === undefined) return existing;
    const call = { subresource: "status", signal, timeoutMs: options.timeoutMs };
    return client.patch(NODES, name, { type: "strategic", body }, call);
  };

  const attempt = async (initialNode: Node, signal: AbortSignal): Promise<Node> => {
    if (!options.registerNode) return find(signal);
    startup?.attempted();
    try {
      const node = await client.create(NODES, initialNode, { signal, timeoutMs: options.timeoutMs });
      log.info("Successfully registered node", { node: options.nodeName });
      await startup?.created();
      return node;
    } catch (error) {
      // An agent that may not create nodes can still find a node that exists.
      if (!isApiError(error, "AlreadyExists") && !isApiError(error, "Forbidden")) throw error;
      const existing = await find(signal).catch((absence: unknown) => {
        throw isApiError(absence, "NotFound") ? error : absence;
      });
      log.info("Node was previously registered", { node: options.nodeName });
      return reconcile(initialNode, existing, signal);
    }
  };

  return {
    async register(initialNode, signal) {
      const what = options.registerNode ? "Registering the node with the API server" : "Finding the node's object";
      const failures = createFailureLog(log.with({ node: options.nodeName }), what);
      for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, MAX_RETRY_MS)) {
        throwIfAborted(signal);
        try {
          const node = await attempt(initialNode, signal);
          failures.succeeded();
          observe(node);
          return node;
        } catch (error) {
          throwIfAborted(signal);
          failures.failed(error);
        }
        await sleep(clock, jitter(random, waitMs, RETRY_JITTER), signal);
      }
    },
    nodeReady: async (signal) => untilAborted(known, signal),
    node: () => latest,
    observe,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    follow(listener) {
      followers.add(listener);
      return () => followers.delete(listener);
    },
  };
}
