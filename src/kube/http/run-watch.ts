import type { KubeResource } from "../../api/kube-resource.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { CodedError } from "../../base/errors.ts";
import { KubeUnreachableError, type WatchEvent, type WatchOptions } from "../port.ts";
import type { Caller } from "./caller.ts";
import { collectionPath, withQuery } from "./request-path.ts";
import { TransportError } from "./transport/wire.ts";
import { readWatchEvent } from "./watch-event.ts";
import { createWatchFrameReader } from "./watch-frames.ts";

/** An object of etcd is 1.5 MiB at most; what comes of custom storage is not ten times as large. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/**
 * A server that has not ended the watch so long after it should have is not there any more, although something between
 * answers pings in its place.
 */
const OVERDUE_MS = 30_000;

/** What the port says of `watch`. */
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
        // What came together with the event on which it was ended is not wanted any more.
        throwIfAborted(signal);
        onEvent(readWatchEvent(resource, frame));
      });
    });
    if (frames.pendingBytes > 0) throw broken(resource, "the server ended it in the middle of an event");
  } catch (error) {
    // We ended it, to go on with other credentials: the next one begins where it was.
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
