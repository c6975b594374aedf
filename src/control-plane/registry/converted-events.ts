import { expiredError } from "../../api/api-error.ts";
import { runInBackground } from "../../base/tasks.ts";
import type { StoredObject, StoreEvent } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { showAll } from "./shown.ts";

/** What hears of events: each in its turn. */
export interface EventSink {
  event(event: StoreEvent): void;
  initialEventsEnd(revision: number): void;
}

interface ConvertedEventsOptions {
  readonly kind: ResourceKind;
  /** True where the version before a change is looked at, too. */
  readonly needsPrevious: boolean;
  /** Called once, after which the sink hears of nothing. */
  fail(error: unknown): void;
}

/** Events on their way to a sink, with their objects in the form of a kind. */
interface ConvertedEvents extends EventSink {
  /** The revision up to which the sink has heard of everything; undefined before its first event, `all` when none waits. */
  told(): number | "all" | undefined;
  /** From now on only so many events may wait. */
  begin(): void;
  stop(): void;
}

/** Changes that come faster than a webhook converts them wait up to this size, and then the watch ends. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_AT_ONCE = 500;

/** `bytes`: what the event counts for while it waits; nothing where as many as there are may wait. */
type Waiting = { readonly event: StoreEvent; readonly bytes: number } | { readonly initialEnd: number };

/** Asks for the conversion of what waits all at once, and keeps the order. */
export function createConvertedEvents(sink: EventSink, options: ConvertedEventsOptions): ConvertedEvents {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let isBusy = false;
  let isLimited = false;
  let isStopped = false;
  let told: number | undefined;

  const fail = (error: unknown) => {
    if (isStopped) return;
    isStopped = true;
    waiting = [];
    options.fail(error);
  };
  const tellNext = async () => {
    const batch = waiting.splice(0, MAX_AT_ONCE);
    const converted = await convert(options, batch);
    for (const next of batch) {
      // The sink may have ended the watch.
      if (isStopped) return;
      if ("initialEnd" in next) {
        sink.initialEventsEnd(next.initialEnd);
        continue;
      }
      const { stored, previous } = next.event;
      waitingBytes -= next.bytes;
      sink.event({
        ...next.event,
        stored: converted.get(stored) ?? stored,
        previous: previous && (converted.get(previous) ?? previous),
      });
      told = next.event.revision;
    }
  };
  const tellAll = async () => {
    isBusy = true;
    while (!isStopped && waiting.length > 0) await tellNext();
    isBusy = false;
  };
  const add = (next: Waiting) => {
    if (isStopped) return;
    waiting.push(next);
    if (!isBusy) runInBackground(tellAll, fail);
  };
  return {
    event(event) {
      const bytes = isLimited ? event.stored.json.length : 0;
      waitingBytes += bytes;
      if (waitingBytes > MAX_WAITING_BYTES) fail(tooSlowError());
      else add({ event, bytes });
    },
    initialEventsEnd: (revision) => add({ initialEnd: revision }),
    told: () => (isBusy ? told : "all"),
    begin() {
      isLimited = true;
    },
    stop() {
      isStopped = true;
      waiting = [];
    },
  };
}

async function convert({ kind, needsPrevious }: ConvertedEventsOptions, batch: readonly Waiting[]) {
  const stored = batch.flatMap((next): StoredObject[] => {
    if (!("event" in next)) return [];
    const { stored: now, previous } = next.event;
    return needsPrevious && previous !== undefined ? [now, previous] : [now];
  });
  const { items } = await showAll(kind, stored);
  return new Map(stored.map((item, index) => [item, items[index] ?? item]));
}

function tooSlowError() {
  const why = `its conversion webhook had not converted ${MAX_WAITING_BYTES} bytes of events`;
  return expiredError(`the watch was ended: ${why}; list and watch anew`);
}
