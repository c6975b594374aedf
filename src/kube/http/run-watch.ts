import type { KubeResource } from "../../api/kube-resource.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { CodedError } from "../../base/errors.ts";
import { KubeUnreachableError, type WatchEvent, type WatchOptions } from "../port.ts";
import type { Caller } from "./caller.ts";
import { collectionPath, withQuery } from "./request-path.ts";
import { TransportError } from "./transport/wire.ts";
import { readWatchEvent } from "./watch-event.ts";
import { createWatchFrameReader } from "./watch-frames.ts";

/** The largest event. An object in etcd has 1.5 MiB at most, and one of another storage is not five times as large. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
/**
 * The time that a server has to end a watch after its term. A server that has not done so by then is gone, although a
 * machine in between answers pings in its place.
 */
const OVERDUE_MS = 30_000;

/** Runs a watch as the port describes it. */
export async function runWatch<T>(
  caller: Pick<Caller, "stream">,
  { resource, namespace, fieldSelector, labelSelector, resourceVersion, timeoutSeconds, signal }: WatchOrder<T>,
  onEvent: (event: WatchEvent<T>) => void,
): Promise<void> {
  const path = withQuery(collectionPath(resource, namespace), {
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
    fieldSelector,
    labelSelector,
  });
  const endAfterMs = timeoutSeconds * 1_000 + OVERDUE_MS;
  const stream = await caller.stream({ method: "GET", path }, { signal, endAfterMs });
  try {
    const frames = createWatchFrameReader(MAX_EVENT_BYTES);
    await stream.read((chunk) => {
      frames.push(chunk, (frame) => {
        // Events that came together with the one at which the watch was ended are dropped.
        throwIfAborted(signal);
        onEvent(readWatchEvent(resource, frame));
      });
    });
    if (frames.pendingBytes > 0) throw broken(resource, "the server ended it in the middle of an event");
  } catch (error) {
    // The client ended it to go on with other credentials: the next watch begins where it was.
    if (error instanceof KubeUnreachableError && isRetired(error.cause)) return;
    if (error instanceof CodedError && error.code === "frame-too-long") throw broken(resource, error.message);
    throw error;
  } finally {
    stream.release();
  }
}

interface WatchOrder<T> extends WatchOptions {
  readonly resource: KubeResource<T>;
}

function isRetired(cause: unknown): boolean {
  return cause instanceof TransportError && cause.code === "retired";
}

function broken(resource: KubeResource<unknown>, problem: string): KubeUnreachableError {
  return new KubeUnreachableError("unreachable", `watching ${resource.plural}: ${problem}`);
}
