import { isApiError } from "../api/api-error.ts";
import { ENDPOINT_SLICES, EVENTS, type KubeResource, NODES, PODS, SERVICES } from "../api/kube-resource.ts";
import { childController, isAbort } from "../base/abort.ts";
import { type Clock, parseTime, SECOND } from "../base/clock.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import { repeat } from "../base/interval.ts";
import { silentLog } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { runInBackground } from "../base/tasks.ts";
import type { AnswerWriter, ServedAnswer } from "../host/http-server.ts";
import { createReflector } from "../kube/create-reflector.ts";
import type { KubeClient } from "../kube/port.ts";
import type { ReflectorChange } from "../kube/reflector.ts";
import { type LiveKind, type LiveMessage, type LiveObjects, MAX_EVENTS } from "./model/live-message.ts";

interface LiveFeedDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
}

/** A page that does not read for so long that this much waits is cut off, and asks anew when it reads again. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_OBJECTS_IN_MESSAGE = 100;
/** A page that hears nothing for some of these takes the connection for broken. */
const HEARTBEAT_MS = 10 * SECOND;
/** Pages at once. Each has watches of its own, which end with it. */
const MAX_FEEDS = 16;

/** Answers with server-sent events of all that a page shows, made of watches with the rights of the client. */
export function createLiveFeeds(deps: LiveFeedDeps): () => ServedAnswer | undefined {
  let open = 0;
  return () => {
    if (open >= MAX_FEEDS) return undefined;
    const stream = (writer: AnswerWriter) => {
      open += 1;
      const leave = () => {
        open -= 1;
      };
      writer.signal.addEventListener("abort", leave, { once: true });
      follow(deps, writer);
    };
    return { status: 200, headers: { "content-type": "text/event-stream" }, body: { stream } };
  };
}

function follow({ client, clock, random }: LiveFeedDeps, writer: AnswerWriter): void {
  const { signal } = writer;
  const write = (text: string) => {
    if (writer.bufferedBytes > MAX_WAITING_BYTES) writer.end();
    else writer.write(text);
  };
  const tell = (message: LiveMessage) => write(`data: ${JSON.stringify(message)}\n\n`);
  const spawn = (work: () => Promise<void>) => {
    runInBackground(work, (error) => {
      if (!isAbort(error)) writer.end();
    });
  };
  const start = <K extends LiveKind>(kind: K, resource: KubeResource<LiveObjects[K]>) => {
    const told = createKindTeller(kind, tell);
    // The kinds listen each to a signal of its own: together they are more than one is meant for.
    const { signal: own } = childController(signal).controller;
    const reflector = createReflector<LiveObjects[K]>(
      {
        client: {
          async list(...call) {
            const list = await client.list(...call);
            told.fine();
            return list;
          },
          watch: client.watch,
        },
        ...{ clock, random, log: silentLog },
      },
      { resource, onChange: told.changed, onFailure: told.failed },
    );
    spawn(async () => await reflector.run(own));
    spawn(async () => {
      await reflector.synced(own);
      // The list is told in the same turn, after the reflector has synced.
      await Promise.resolve();
      tell({ type: "synced", kind });
    });
  };
  start("nodes", NODES);
  start("pods", PODS);
  start("services", SERVICES);
  start("endpointSlices", ENDPOINT_SLICES);
  start("events", EVENTS);
  spawn(async () => await repeat(clock, { periodMs: HEARTBEAT_MS, signal }, () => write(": here\n\n")));
}

type Told = LiveObjects[LiveKind];

function createKindTeller(kind: LiveKind, tell: (message: LiveMessage) => void) {
  let isFailing = false;
  return {
    changed(changes: ReadonlyArray<ReflectorChange<Told>>) {
      const gone = changes.filter(({ type }) => type === "DELETED").map(({ object }) => object.metadata?.uid ?? "");
      const present = changes.filter(({ type }) => type !== "DELETED").map(({ object }) => object);
      const objects = newest(kind, present).map(slim);
      if (gone.length > 0) tell({ type: "gone", kind, uids: gone });
      for (let at = 0; at < objects.length; at += MAX_OBJECTS_IN_MESSAGE) {
        tell({ type: "put", kind, objects: objects.slice(at, at + MAX_OBJECTS_IN_MESSAGE) });
      }
    },
    failed(error: unknown) {
      isFailing = true;
      const reason = isApiError(error) ? error.reason : (codeOf(error) ?? "unreachable");
      tell({ type: "trouble", kind, reason, message: messageOf(error) });
    },
    fine() {
      if (isFailing) tell({ type: "fine", kind });
      isFailing = false;
    },
  };
}

/** The newest of events, because a cluster may have more than a page can show. */
function newest(kind: LiveKind, objects: readonly Told[]): readonly Told[] {
  if (kind !== "events" || objects.length <= MAX_EVENTS) return objects;
  const age = ({ metadata }: Told) => parseTime(metadata?.creationTimestamp) ?? 0;
  return objects.toSorted((a, b) => age(b) - age(a)).slice(0, MAX_EVENTS);
}

/** An object without what the page never shows: who manages which field, and the text that kubectl keeps of itself. */
export function slim(object: Told): Told {
  const { managedFields: _fields, annotations, ...metadata } = object.metadata ?? {};
  if (annotations === undefined) return { ...object, metadata };
  const { "kubectl.kubernetes.io/last-applied-configuration": _applied, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}
