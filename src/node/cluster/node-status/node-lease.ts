import { isApiError } from "../../../api/api-error.ts";
import type { Lease, Node, OwnerReference } from "../../../api/gen/types.ts";
import { LEASES } from "../../../api/kube-resource.ts";
import { sleep, throwIfAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { CodedError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { jitter, type Random } from "../../../base/random.ts";
import { withDeadline } from "../../../base/time-limit.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createFailureLog } from "./failure-log.ts";

/** The node's sign of life: a small object that is written every few seconds, and that nothing else delays. */
interface NodeLease {
  run(signal: AbortSignal): Promise<void>;
}

interface NodeLeaseDeps {
  client: Pick<KubeClient, "get" | "create" | "replace">;
  clock: Clock;
  random: Random;
  log: Log;
  /** The node object, which owns the lease, where it is known. */
  node: {
    node(): Node | undefined;
    nodeReady(signal: AbortSignal): Promise<Node>;
  };
}

interface NodeLeaseOptions {
  readonly nodeName: string;
  /**
   * The control plane gives the node up when the lease was not renewed for this long. It is renewed four times as
   * often.
   */
  readonly leaseDurationSeconds: number;
}

/** These values are upstream's (component-helpers/apimachinery/lease/controller.go). */
const NAMESPACE = "kube-node-lease";
const RENEWALS_PER_DURATION = 4;
const RENEWAL_JITTER = 0.04;
const MAX_UPDATES = 5;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 7_000;

export function createNodeLease(deps: NodeLeaseDeps, options: NodeLeaseOptions): NodeLease {
  const { client, clock, random } = deps;
  const log = deps.log.with({ node: options.nodeName });
  const failures = createFailureLog(log, "Renewing the node's lease");
  const renewIntervalMs = (options.leaseDurationSeconds * 1000) / RENEWALS_PER_DURATION;
  const name = { namespace: NAMESPACE, name: options.nodeName };
  const call = (signal: AbortSignal) => ({ signal, timeoutMs: renewIntervalMs });
  /** The last answer. Only this agent writes the lease, so that the next write builds on this without a read. */
  let latest: Lease | undefined;

  /**
   * Waits for the node, because a lease without an owner would outlive its node. No lease is made before the node is
   * there.
   */
  const requireOwner = async (signal: AbortSignal): Promise<Node> => {
    const wait = { timeoutMs: renewIntervalMs, signal, what: "waiting for the node object" };
    return deps.node.node() ?? (await withDeadline(clock, wait, async (inner) => deps.node.nodeReady(inner)));
  };

  const findOrCreate = async (signal: AbortSignal): Promise<{ lease: Lease; isNew: boolean }> => {
    try {
      return { lease: await client.get(LEASES, name, call(signal)), isNew: false };
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
    const fresh = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { ...name } };
    const owner = await requireOwner(signal);
    return {
      lease: await client.create(LEASES, renewed(fresh, { ...options, owner, now: clock.now() }), call(signal)),
      isNew: true,
    };
  };

  /** Tries until there is a lease. */
  const ensure = async (signal: AbortSignal): Promise<{ lease: Lease; isNew: boolean }> => {
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, MAX_RETRY_MS)) {
      try {
        return await findOrCreate(signal);
      } catch (error) {
        throwIfAborted(signal);
        failures.failed(error);
      }
      await sleep(clock, jitter(random, waitMs, RENEWAL_JITTER), signal);
    }
  };

  /** Updates the lease; undefined when a few attempts, one right after the other, all failed. */
  const update = async (from: Lease, signal: AbortSignal): Promise<Lease | undefined> => {
    let base = from;
    for (let attempt = 0; attempt < MAX_UPDATES; attempt++) {
      try {
        const next = renewed(base, { ...options, owner: deps.node.node(), now: clock.now() });
        return await client.replace(LEASES, next, call(signal));
      } catch (error) {
        throwIfAborted(signal);
        if (isApiError(error, "NotFound")) return undefined;
        if (isApiError(error, "Conflict")) base = (await ensure(signal)).lease;
        else failures.failed(error);
      }
    }
    return undefined;
  };

  const renew = async (signal: AbortSignal) => {
    if (latest !== undefined) latest = await update(latest, signal);
    if (latest === undefined) {
      const { lease, isNew } = await ensure(signal);
      latest = isNew ? lease : await update(lease, signal);
    }
    if (latest !== undefined) failures.succeeded();
    else failures.failed(new CodedError("not-renewed", `failed ${MAX_UPDATES} attempts to update lease`));
  };

  return {
    async run(signal) {
      while (!signal.aborted) {
        await renew(signal);
        await sleep(clock, jitter(random, renewIntervalMs, RENEWAL_JITTER), signal);
      }
    },
  };
}

interface Renewal extends NodeLeaseOptions {
  readonly owner: Node | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Computes the lease as it is written next. A node that was made anew becomes its owner. */
function renewed(lease: Lease, { nodeName, leaseDurationSeconds, owner, now }: Renewal): Lease {
  const uid = owner?.metadata?.uid;
  const ownerReferences: OwnerReference[] = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: uid ?? "" }];
  return {
    ...lease,
    metadata: { ...lease.metadata, ...(uid !== undefined && { ownerReferences }) },
    spec: { ...lease.spec, holderIdentity: nodeName, leaseDurationSeconds, renewTime: formatMicroTime(now) },
  };
}

/** Formats a time as `metav1.MicroTime` is written. */
function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
