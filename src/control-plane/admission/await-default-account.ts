import { isRecord } from "../../api/object.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../api/well-known.ts";
import type { Clock } from "../../base/clock.ts";
import type { PendingCreation } from "../ports/request.ts";
import type { ResourceFeed, ResourceReader } from "../ports/resources.ts";

const RESOURCE = "serviceaccounts";
const DEFAULT_ACCOUNT = "default";
/** Upstream looks ten times, 100 to 200 ms apart. */
const PATIENCE_MS = 1_000;
/** The most pods that wait at a time. Further pods are refused at once, as if their second were over. */
const MAX_WAITING = 1_000;

export interface DefaultAccountDeps {
  reader: Pick<ResourceReader, "get">;
  feed: Pick<ResourceFeed, "follow">;
  clock: Pick<Clock, "setTimer">;
}

/**
 * Lets a pod wait a moment for the default service account of its namespace (`getServiceAccount` of upstream's plugin).
 * A user who creates a namespace and then a pod in it may be faster than the controller that creates the account,
 * especially when that is another process. Undefined when there is nothing to wait for; never rejects.
 */
export function createDefaultAccountWait(
  deps: DefaultAccountDeps,
): (creation: PendingCreation) => Promise<void> | undefined {
  const { reader, feed, clock } = deps;
  const waiting = new Map<string, Set<() => void>>();
  let count = 0;
  let unfollow: (() => void) | undefined;

  const leave = (namespace: string, wake: () => void) => {
    count -= 1;
    const others = waiting.get(namespace);
    others?.delete(wake);
    if (others?.size === 0) waiting.delete(namespace);
    rest();
  };
  const rest = () => {
    if (count > 0) return;
    unfollow?.();
    unfollow = undefined;
  };
  const until = (namespace: string) =>
    new Promise<void>((resolve) => {
      const end = () => {
        timer.cancel();
        leave(namespace, end);
        resolve();
      };
      const timer = clock.setTimer(PATIENCE_MS, end);
      waiting.set(namespace, (waiting.get(namespace) ?? new Set()).add(end));
      count += 1;
      unfollow ??= feed.follow(RESOURCE, ({ type, object: { metadata } }) => {
        if (type !== "ADDED" || metadata.name !== DEFAULT_ACCOUNT) return;
        for (const wake of [...(waiting.get(metadata.namespace ?? "") ?? [])]) wake();
      });
      // The feed may still tell of an account that is being deleted while following begins, which ends the wait at once.
      rest();
    });

  return ({ kind, namespace, body }) => {
    if (kind.plural !== "pods" || kind.group !== "" || !runsAsDefault(body)) return undefined;
    if (reader.get({ resource: RESOURCE, namespace, name: DEFAULT_ACCOUNT }) !== undefined) return undefined;
    if (reader.get({ resource: "namespaces", namespace: "", name: namespace }) === undefined) return undefined;
    return count < MAX_WAITING ? until(namespace) : undefined;
  };
}

/** True when the pod names no service account or the default one. The body was not validated yet. */
function runsAsDefault(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { metadata, spec } = body;
  const annotations = isRecord(metadata) ? metadata["annotations"] : undefined;
  if (isRecord(annotations) && CONFIG_MIRROR_ANNOTATION in annotations) return false;
  const name = isRecord(spec) ? spec["serviceAccountName"] : undefined;
  return name === undefined || name === "" || name === DEFAULT_ACCOUNT;
}
