import { ApiError, isApiError } from "../../api/api-error.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import { type Clock, MINUTE, SECOND, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { WebAnswer, WebWriter } from "../../host/web-server.ts";
import type { ObjectStore, StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { viewOf, withMetadata } from "../registry/object-view.ts";
import { type WatchNotice, type WatchSink, watchObjects } from "../registry/watch.ts";
import { type AnswerForm, isAsStored } from "./encode.ts";
import type { ListQuery } from "./query-options.ts";
import { partialOf, tableOf } from "./table.ts";

/** A watcher that leaves more than this unread, besides the initial events, is cut off: nobody else waits for it. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const BOOKMARK_INTERVAL_MS = MINUTE;
/** A watch without a time-out ends after 30 to 60 minutes, so that clients spread over the servers, as upstream. */
const DEFAULT_TIMEOUT_MS = 30 * MINUTE;

export interface WatchDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Shared by all watches. */
  readonly lines: EventLines;
  /** 0…1. */
  random(): number;
  /** Counts the watchers that are connected, and the events that they were sent. */
  readonly observer: {
    opened(kind: ResourceKind): void;
    closed(kind: ResourceKind): void;
    sent(kind: ResourceKind): void;
  };
}

/** One watch. */
export interface WatchOptions {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly query: ListQuery;
  readonly wanted: AnswerForm;
}

/** The answer to a watch: a stream of events, one JSON object a line. */
export function serveWatch(deps: WatchDeps, options: WatchOptions): WebAnswer {
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-cache, private" },
    body: { stream: (writer) => streamWatch(deps, options, writer) },
  };
}

function streamWatch(deps: WatchDeps, options: WatchOptions, writer: WebWriter): void {
  const { kind, query } = options;
  const encoder = createEventEncoder(deps, options);
  let bookmarkTimer: Timer | undefined;
  let endTimer: Timer | undefined;
  let stop: (() => void) | undefined;
  let maxBufferedBytes = Number.POSITIVE_INFINITY;
  const release = () => {
    stop?.();
    bookmarkTimer?.cancel();
    endTimer?.cancel();
  };
  const finish = () => {
    release();
    writer.end();
  };
  const fail = (error: ApiError) => {
    writer.write(`${JSON.stringify({ type: "ERROR", object: error.status })}\n`);
    finish();
  };
  const bookmark = (revision: number, isInitialEnd: boolean) => writer.write(encoder.bookmark(revision, isInitialEnd));
  const sink: WatchSink = {
    notice(notice) {
      try {
        for (const chunk of stop ? [encoder.event(notice)] : encoder.initialEvent(notice)) writer.write(chunk);
      } catch (error) {
        // An object that cannot be shown ends this watch, and not the store that tells of it.
        fail(internalError(error));
        return;
      }
      deps.observer.sent(kind);
      if (writer.bufferedBytes > maxBufferedBytes) fail(tooSlow());
    },
    initialEventsEnd(revision) {
      if (query.sendInitialEvents && query.allowWatchBookmarks) bookmark(revision, true);
    },
  };
  deps.observer.opened(kind);
  writer.signal.addEventListener("abort", () => {
    release();
    deps.observer.closed(kind);
  });
  try {
    stop = watchObjects(deps.store, { ...options, ...query }, sink);
  } catch (error) {
    fail(isApiError(error) ? error : internalError(error));
    return;
  }
  maxBufferedBytes = writer.bufferedBytes + MAX_BUFFERED_BYTES;
  const repeatBookmark = () => {
    bookmark(deps.store.revision, false);
    bookmarkTimer = deps.clock.setTimer(BOOKMARK_INTERVAL_MS, repeatBookmark);
  };
  if (query.allowWatchBookmarks) bookmarkTimer = deps.clock.setTimer(BOOKMARK_INTERVAL_MS, repeatBookmark);
  endTimer = deps.clock.setTimer(timeoutMs(deps, query), () => {
    if (query.allowWatchBookmarks) bookmark(deps.store.revision, false);
    finish();
  });
}

function timeoutMs({ random }: WatchDeps, { timeoutSeconds }: ListQuery): number {
  return timeoutSeconds > 0 ? timeoutSeconds * SECOND : DEFAULT_TIMEOUT_MS * (1 + random());
}

function internalError(error: unknown): ApiError {
  return new ApiError("InternalError", `Internal error occurred: ${messageOf(error)}`);
}

function tooSlow(): ApiError {
  const message = `the watch was ended: its client had not read ${MAX_BUFFERED_BYTES} bytes of events; list and watch anew`;
  return new ApiError("Expired", message);
}

const ADDED = Buffer.from('{"type":"ADDED","object":');
const LINE_END = Buffer.from("}\n");

interface EventEncoder {
  /** In pieces: what is stored goes out without a copy of it for everyone who begins to watch. */
  initialEvent(notice: WatchNotice): ReadonlyArray<Buffer | string>;
  event(notice: WatchNotice): Buffer | string;
  bookmark(revision: number, isInitialEnd: boolean): string;
}

function createEventEncoder({ lines }: WatchDeps, { kind, wanted }: WatchOptions): EventEncoder {
  const { form } = wanted;
  let hasDefinitions = true;
  const shape = (object: KubeObject): unknown => {
    if (form.as === "Table") {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      const table = tableOf(kind, [object], { ...wanted, version: form.version, metadata, hasDefinitions });
      hasDefinitions = false;
      return table;
    }
    return form.as === undefined ? object : partialOf(object, form.version);
  };
  const encode = ({ type, stored, revision }: WatchNotice) => {
    const object = withMetadata(viewOf(kind, stored), { resourceVersion: String(revision) });
    return `${JSON.stringify({ type, object: shape(object) })}\n`;
  };
  return {
    initialEvent(notice) {
      const { type, stored, revision } = notice;
      const isAsWritten = isAsStored(kind, form) && revision === stored.revision;
      // What is caught up with from history comes this way, too, and is not always new.
      return isAsWritten && type === "ADDED" ? [ADDED, stored.json, LINE_END] : [encode(notice)];
    },
    event(notice) {
      const { type, stored, revision } = notice;
      return isAsStored(kind, form) && revision === stored.revision ? lines.lineOf(type, stored) : encode(notice);
    },
    bookmark(revision, isInitialEnd) {
      const object = emptyObject(kind, revision, isInitialEnd);
      const shown = form.as === "Table" ? { ...bookmarkTable(object, form.version) } : shape(object);
      return `${JSON.stringify({ type: "BOOKMARK", object: shown })}\n`;
    },
  };
}

function emptyObject(kind: ResourceKind, revision: number, isInitialEnd: boolean): KubeObject {
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: {
      resourceVersion: String(revision),
      ...(isInitialEnd && { annotations: { "k8s.io/initial-events-end": "true" } }),
    },
  };
}

function bookmarkTable({ metadata }: KubeObject, version: string): object {
  return { kind: "Table", apiVersion: `meta.k8s.io/${version}`, metadata, columnDefinitions: null, rows: [] };
}

/** Events as lines of a stream, encoded once for all who watch. */
export interface EventLines {
  lineOf(type: string, stored: StoredObject): Buffer;
}

/** Remembers one line: an event goes to all its watchers in one go. */
export function createEventLines(): EventLines {
  let latest: { type: string; stored: StoredObject; line: Buffer } | undefined;
  return {
    lineOf(type, stored) {
      if (latest?.stored !== stored || latest.type !== type) {
        const line = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), stored.json, LINE_END]);
        latest = { type, stored, line };
      }
      return latest.line;
    },
  };
}
