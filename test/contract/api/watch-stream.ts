import type { IncomingMessage } from "node:http";
import { isRecord, type KubeObject } from "../../../src/api/object.ts";

export interface WatchEvent {
  readonly type: string;
  /** A Status in an ERROR. */
  readonly object: KubeObject;
}

/** The events of one watch, read one after the other. */
export interface WatchStream {
  /** The next event. Rejects when none comes in time, and when the server has ended the watch. */
  next(): Promise<WatchEvent>;
  take(count: number): Promise<WatchEvent[]>;
  /** All events up to and with the first that is wanted. */
  until(isWanted: (event: WatchEvent) => boolean): Promise<WatchEvent[]>;
  /** What was not read yet when the server ended the watch, for which this waits. */
  ended(): Promise<WatchEvent[]>;
  close(): void;
}

/** An event takes milliseconds; a machine that is busy may take a thousand times as long. */
const EVENT_TIMEOUT_MS = 20_000;

export function openWatchStream(response: IncomingMessage): WatchStream {
  const lines = readLines(response);
  const next = async (): Promise<WatchEvent> => {
    const event = await inTime(response, lines.next());
    if (event.done) throw new Error("the server ended the watch, and an event was expected");
    return event.value;
  };
  const until = async (isWanted: (event: WatchEvent) => boolean) => {
    const events: WatchEvent[] = [];
    for (;;) {
      const event = await next();
      events.push(event);
      if (isWanted(event)) return events;
    }
  };
  return {
    next,
    until,
    async take(count) {
      const events: WatchEvent[] = [];
      while (events.length < count) events.push(await next());
      return events;
    },
    async ended() {
      const events: WatchEvent[] = [];
      for (;;) {
        const event = await inTime(response, lines.next());
        if (event.done) return events;
        events.push(event.value);
      }
    },
    close: () => response.destroy(),
  };
}

async function* readLines(response: IncomingMessage): AsyncGenerator<WatchEvent, void> {
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield parseEvent(line);
  }
  if (rest !== "") throw new Error(`the watch ended in the middle of an event: ${rest}`);
}

function parseEvent(line: string): WatchEvent {
  const event: unknown = JSON.parse(line);
  if (!isRecord(event) || typeof event["type"] !== "string" || !isRecord(event["object"])) {
    throw new Error(`this is no watch event: ${line}`);
  }
  return { type: event["type"], object: { apiVersion: "", kind: "", metadata: {}, ...event["object"] } };
}

async function inTime<Value>(response: IncomingMessage, event: Promise<Value>): Promise<Value> {
  const timeout = setTimeout(() => {
    response.destroy(new Error(`no event came for ${EVENT_TIMEOUT_MS} ms`));
  }, EVENT_TIMEOUT_MS);
  try {
    return await event;
  } finally {
    clearTimeout(timeout);
  }
}

/** `ADDED a`, `DELETED b`: what most cases look at. */
export function summarize(events: readonly WatchEvent[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`);
}

/** Whether servers of a minor version begin a watch with what there is: the gate was open in 1.32, and is since 1.34. */
export const hasInitialEvents = (minor: number): boolean => minor === 32 || minor >= 34;
