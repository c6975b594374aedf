import { expiredError } from "../../api/api-error.ts";
import type { ObjectStore, StoredObject, StoreEvent } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { createConvertedEvents, type EventSink } from "./converted-events.ts";
import { keysOf } from "./keys.ts";
import { parseResourceVersion } from "./read.ts";
import { type Selection, selectionOf } from "./selection.ts";

interface WatchRequest {
  readonly kind: ResourceKind;
  /** "" for all namespaces. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** The revision after which the watch begins. With "" and "0" all existing objects are sent first, as ADDED. */
  readonly resourceVersion: string;
  /** Sends all existing objects first, and then a bookmark. Default: only without a resourceVersion. */
  readonly sendInitialEvents: boolean | undefined;
}

/** A change as a watcher sees it. An object that no longer matches the selectors is DELETED for the watcher. */
export interface WatchNotice {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The version to show. For an object that only stopped matching it is the last version that matched. */
  readonly stored: StoredObject;
  /** Later than `stored.revision` only for an object that stopped matching. */
  readonly revision: number;
}

export interface WatchSink {
  notice(notice: WatchNotice): void;
  /** Tells that the initial events, where there are any, end at this revision. */
  initialEventsEnd(revision: number): void;
  /** Tells that no further events come, because an object could not be converted in time. */
  fail(error: unknown): void;
}

/** A watch that runs. */
export interface ObjectWatch {
  stop(): void;
  /** The revision up to which the sink has heard of everything; undefined while it has heard of nothing. */
  toldRevision(): number | undefined;
}

/**
 * Starts a watch, and sends the initial events before it returns, unless a webhook has to convert the objects. Throws
 * Expired when the events after the revision are no longer kept, BadRequest for invalid selectors.
 */
export function watchObjects(store: ObjectStore, request: WatchRequest, sink: WatchSink): ObjectWatch {
  const { kind } = request;
  const { conversion } = kind.storedAs ?? {};
  const selectors = { label: request.labelSelector, field: request.fieldSelector };
  const selection = selectionOf(conversion?.shown ?? kind, selectors);
  const plain: EventSink = {
    event(event) {
      const notice = noticeOf(selection, event);
      if (notice) sink.notice(notice);
    },
    initialEventsEnd: (revision) => sink.initialEventsEnd(revision),
  };
  if (conversion === undefined) {
    return { stop: watchStored(store, request, plain), toldRevision: () => store.revision };
  }
  const needsPrevious = !selection.isEverything;
  const converted = createConvertedEvents(plain, { kind, needsPrevious, fail: (error) => sink.fail(error) });
  const stop = watchStored(store, request, converted);
  converted.begin();
  return {
    stop() {
      stop();
      converted.stop();
    },
    toldRevision() {
      const told = converted.told();
      return told === "all" ? store.revision : told;
    },
  };
}

function watchStored(store: ObjectStore, request: WatchRequest, sink: EventSink): () => void {
  const { kind, namespace, resourceVersion } = request;
  const prefix = keysOf(kind).prefix(namespace);
  const isFromNow = resourceVersion === "" || resourceVersion === "0";
  const hasInitial = request.sendInitialEvents ?? isFromNow;
  const listed = hasInitial || isFromNow ? store.list(prefix) : undefined;
  if (hasInitial && listed) {
    for (const stored of listed.items) {
      const { key, revision } = stored;
      sink.event({ type: "ADDED", key, stored, previous: undefined, revision });
    }
  }
  const after = listed ? listed.revision : parseResourceVersion(resourceVersion);
  sink.initialEventsEnd(after);
  const stop = store.watch(prefix, after, (event) => sink.event(event));
  if (stop === "expired") throw expiredError(`too old resource version: ${resourceVersion} (${store.revision})`);
  return stop;
}

/** The change as a watcher with this selection sees it; undefined when it does not concern the selection. */
function noticeOf(selection: Selection, event: StoreEvent): WatchNotice | undefined {
  // All watchers without a selection get the same object, because a thousand copies would be equal.
  if (selection.isEverything) return event;
  const { type, stored, previous, revision } = event;
  const isNow = type !== "DELETED" && selection.matches(stored);
  const wasBefore = previous !== undefined && selection.matches(previous);
  if (isNow) return { type: wasBefore ? "MODIFIED" : "ADDED", stored, revision };
  if (!wasBefore || previous === undefined) return undefined;
  return { type: "DELETED", stored: type === "DELETED" ? stored : previous, revision };
}
