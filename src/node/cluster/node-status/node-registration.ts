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

/** Makes the node object, or finds it, and knows it from then on. */
export interface NodeRegistration {
  /**
   * Creates the node, or brings the existing one in line with it; goes on trying until that is done. Where the node is
   * not to register itself, waits until somebody has made it. Rejects with AbortedError only. Not twice at a time.
   */
  register(initialNode: Node, signal: AbortSignal): Promise<Node>;
  /** Resolves when the node object is known; what reads pods from the API waits for it. */
  nodeReady(signal: AbortSignal): Promise<Node>;
  /** As it was last seen; undefined before. */
  node(): Node | undefined;
  /** Whoever reads or writes the node object tells it here. */
  observe(node: Node): void;
  /** Called with the first object, and with each that is another of the name: what was made for the old one is void. */
  subscribe(listener: (node: Node) => void): () => void;
  /** Called with every version that is observed. */
  follow(listener: (node: Node) => void): () => void;
}

interface NodeRegistrationDeps {
  /** The one for heartbeats, which no other traffic slows down. */
  client: Pick<KubeClient, "get" | "create" | "patch">;
  clock: Clock;
  random: Random;
  log: Log;
  /** Told how far the registration has come. */
  startup?: NodeStartup | undefined;
}

export interface NodeRegistrationOptions {
  readonly nodeName: string;
  readonly registerNode: boolean;
  /** For each call. */
  readonly timeoutMs: number;
  /**
   * Counts of extended resources of an existing node are set to 0. Default true, as upstream does where no device plugin
   * was at work here before: the devices must say anew that they are there.
   */
  readonly resetExtendedResources?: boolean;
}

/** Upstream's (pkg/kubelet/kubelet_node_status.go, registerWithAPIServer), but the first attempt is made at once. */
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 7_000;
/** So that the nodes of a cluster do not all come back in step after an outage. */
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
      // Who may not create nodes may still be given one that exists.
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
