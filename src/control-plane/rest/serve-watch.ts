import { ApiError, isApiError } from "../../api/api-error.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import { encodeProtobufEvent, type ProtobufObject } from "../../api/protobuf/encode-protobuf.ts";
import { PROTOBUF_TYPE } from "../../api/protobuf/magic.ts";
import { type Clock, MINUTE, SECOND, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { AnswerWriter, ServedAnswer } from "../../host/http-server.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { viewOf, withMetadata } from "../registry/object-view.ts";
import { type ObjectWatch, type WatchNotice, type WatchSink, watchObjects } from "../registry/watch.ts";
import { type AnswerForm, isAsStored } from "./encode.ts";
import { createPacedEvents } from "./paced-events.ts";
import type { ListQuery } from "./query-options.ts";
import { partialOf, tableOf } from "./table.ts";

/** A watcher that leaves more than this unread, besides the initial events, is cut off: others do not wait for it. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const BOOKMARK_INTERVAL_MS = MINUTE;
/** A watch without a time-out ends after 30 to 60 minutes, as upstream, so that clients spread over the servers. */
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
interface WatchOptions {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly query: ListQuery;
  readonly wanted: AnswerForm;
}

/** The answer to a watch: a stream of events, one JSON object a line, or one frame of protobuf after the other. */
export function serveWatch(deps: WatchDeps, options: WatchOptions): ServedAnswer {
  const isProtobuf = options.wanted.form.encoding === "protobuf";
  const contentType = isProtobuf ? `${PROTOBUF_TYPE};stream=watch` : "application/json";
  return {
    status: 200,
    headers: { "content-type": contentType, "cache-control": "no-cache, private" },
    body: { stream: (writer) => streamWatch(deps, options, writer) },
  };
}

function streamWatch(deps: WatchDeps, options: WatchOptions, writer: AnswerWriter): void {
  const { kind, query } = options;
  const encoder = createEventEncoder(deps, { ...options, kind: kind.storedAs?.conversion?.shown ?? kind });
  let bookmarkTimer: Timer | undefined;
  let endTimer: Timer | undefined;
  let watch: ObjectWatch | undefined;
  let maxBufferedBytes = Number.POSITIVE_INFINITY;
  const release = () => {
    watch?.stop();
    paced.stop();
    bookmarkTimer?.cancel();
    endTimer?.cancel();
  };
  const finish = () => {
    release();
    writer.end();
  };
  const fail = (error: unknown) => {
    writer.write(encoder.error(isApiError(error) ? error : internalError(error)));
    finish();
  };
  const paced = paceEvents({ clock: deps.clock, writer, encoder, onError: fail });
  const bookmark = (revision: number, isInitialEnd: boolean) => paced.add({ revision, isInitialEnd });
  const sink: WatchSink = {
    notice(notice) {
      try {
        if (paced.isWaiting || (watch === undefined && !encoder.isShared)) paced.add(notice);
        else for (const chunk of watch ? [encoder.event(notice)] : encoder.initialEvent(notice)) writer.write(chunk);
      } catch (error) {
        // An object that cannot be shown ends this watch; an error in the listener would end the store.
        fail(error);
        return;
      }
      deps.observer.sent(kind);
      if (paced.unreadBytes() > maxBufferedBytes) fail(tooSlow());
    },
    initialEventsEnd(revision) {
      if (query.sendInitialEvents && query.allowWatchBookmarks) bookmark(revision, true);
      // Initial events that a webhook converts come later than others'.
      if (watch) maxBufferedBytes = paced.unreadBytes() + MAX_BUFFERED_BYTES;
    },
    fail,
  };
  deps.observer.opened(kind);
  writer.signal.addEventListener("abort", () => {
    release();
    deps.observer.closed(kind);
  });
  try {
    watch = watchObjects(deps.store, { ...options, ...query }, sink);
  } catch (error) {
    fail(error);
    return;
  }
  if (kind.storedAs?.conversion === undefined) maxBufferedBytes = paced.unreadBytes() + MAX_BUFFERED_BYTES;
  const tellRevision = () => {
    const revision = paced.isWaiting ? undefined : watch?.toldRevision();
    if (revision !== undefined) bookmark(revision, false);
  };
  const repeatBookmark = () => {
    tellRevision();
    bookmarkTimer = deps.clock.setTimer(BOOKMARK_INTERVAL_MS, repeatBookmark);
  };
  if (query.allowWatchBookmarks) bookmarkTimer = deps.clock.setTimer(BOOKMARK_INTERVAL_MS, repeatBookmark);
  endTimer = deps.clock.setTimer(timeoutMs(deps, query), () => {
    if (query.allowWatchBookmarks) tellRevision();
    finish();
  });
}

interface Pacing {
  readonly clock: Clock;
  readonly writer: AnswerWriter;
  readonly encoder: EventEncoder;
  onError(error: unknown): void;
}

function paceEvents({ encoder, ...pacing }: Pacing) {
  return createPacedEvents<WatchNotice | Bookmark>({
    ...pacing,
    encode: (event) => ("stored" in event ? encoder.initialEvent(event) : [encoder.bookmark(event)]),
    sizeOf: (event) => ("stored" in event ? event.stored.json.length : 0),
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

/** Tells a client up to which revision it has heard of everything. */
interface Bookmark {
  readonly revision: number;
  readonly isInitialEnd: boolean;
}

interface EventEncoder {
  /** True where the initial events are the stored bytes themselves, and take no memory of their own. */
  readonly isShared: boolean;
  /** The event in pieces, so that the stored bytes go out uncopied to each client that begins to watch. */
  initialEvent(notice: WatchNotice): ReadonlyArray<Buffer | string>;
  event(notice: WatchNotice): Buffer | string;
  bookmark(bookmark: Bookmark): Buffer | string;
  error(error: ApiError): Buffer | string;
}

function createEventEncoder({ clock, lines }: WatchDeps, { kind, wanted }: WatchOptions): EventEncoder {
  const { form } = wanted;
  const encode = form.encoding === "protobuf" ? encodeProtobufEvent : encodeLine;
  const formKey = `${form.encoding} ${form.as} ${form.version} ${apiVersionOf(kind)} ${kind.kind}`;
  let hasDefinitions = true;
  const shape = (object: KubeObject, includeObject = wanted.includeObject): ProtobufObject => {
    if (form.as === "Table") {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      // Ages are those at the event: the watch may have begun long before the object.
      const options = { includeObject, now: clock.now(), version: form.version, metadata, hasDefinitions };
      const table = tableOf(kind, [object], options);
      hasDefinitions = false;
      return table;
    }
    return form.as === undefined ? object : partialOf(object, form.version);
  };
  const isAsWritten = ({ stored, revision }: WatchNotice) => isAsStored(kind, form) && revision === stored.revision;
  const encodeNotice = (notice: WatchNotice) => {
    if (isAsWritten(notice)) return Buffer.concat([lineStart(notice.type), notice.stored.json, LINE_END]);
    const { type, stored, revision } = notice;
    return encode(type, shape(withMetadata(viewOf(kind, stored), { resourceVersion: String(revision) })));
  };
  return {
    isShared: isAsStored(kind, form),
    initialEvent(notice) {
      // Events from history come this way, too, and are not always new.
      const isStored = notice.type === "ADDED" && isAsWritten(notice);
      return isStored ? [ADDED, notice.stored.json, LINE_END] : [encodeNotice(notice)];
    },
    event(notice) {
      // Each watcher has ages of its own in tables, and its first event carries the column definitions.
      return form.as === "Table" ? encodeNotice(notice) : lines.lineOf(notice, formKey, encodeNotice);
    },
    bookmark({ revision, isInitialEnd }) {
      // A table says by its only row that the objects of before have come to their end.
      const included = isInitialEnd && wanted.includeObject === "None" ? "Metadata" : wanted.includeObject;
      return encode("BOOKMARK", shape(emptyObject(kind, revision, isInitialEnd), included));
    },
    error: ({ status }) => encode("ERROR", { ...status }),
  };
}

const lineStart = (type: string) => (type === "ADDED" ? ADDED : Buffer.from(`{"type":"${type}","object":`));

const encodeLine = (type: string, object: ProtobufObject) => Buffer.from(`${JSON.stringify({ type, object })}\n`);

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

/** Events as they are sent, encoded once for all watchers of the same form. */
interface EventLines {
  lineOf(notice: WatchNotice, form: string, encode: (notice: WatchNotice) => Buffer): Buffer;
}

/** Remembers one event, in each form that has watchers: it goes to all its watchers in one turn. */
export function createEventLines(): EventLines {
  let latest: WatchNotice | undefined;
  const byForm = new Map<string, Buffer>();
  return {
    lineOf(notice, form, encode) {
      if (!isSame(latest, notice)) byForm.clear();
      latest = notice;
      const line = byForm.get(form) ?? encode(notice);
      byForm.set(form, line);
      return line;
    },
  };
}

function isSame(latest: WatchNotice | undefined, { type, stored, revision }: WatchNotice): boolean {
  return latest?.stored === stored && latest.type === type && latest.revision === revision;
}
