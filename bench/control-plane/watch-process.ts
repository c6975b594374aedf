import type { Endpoint } from "./api-server.ts";
import type { Protocol } from "./connection.ts";
import { sharedNow } from "./shared-clock.ts";
import { openWatchConnections } from "./watch-connections.ts";

/** What the process of the watchers is told. */
export interface WatchOrder {
  endpoint: Endpoint;
  protocol: Protocol;
  connections: number;
  watchers: number;
  /** How many events each of them waits for. */
  events: number;
  path: string;
}

/** What it tells: that all watches are open; that all events have come; that something is wrong. */
export type WatchReport =
  | { kind: "opened" }
  /** When each event reached each watcher, by the shared clock; those of one watcher after another. */
  | { kind: "received"; arrivals: Float64Array }
  | { kind: "failed"; message: string };

const report = (message: WatchReport) => process.send?.(message);

process.once("message", (order: WatchOrder) => {
  openWatches(order).catch((error: unknown) => report({ kind: "failed", message: String(error) }));
});
process.once("disconnect", () => process.exit());

/** Watchers that do no more than note when each event ends: a client that parses would be measured itself. */
async function openWatches({ endpoint, path, watchers, events, ...options }: WatchOrder): Promise<void> {
  const connections = openWatchConnections(endpoint, options);
  const arrivals = new Float64Array(watchers * events);
  let missing = watchers * events;
  const open = async (watcher: number) => {
    let received = 0;
    await connections.open(path, () => {
      if (received === events) return;
      arrivals[watcher * events + received++] = sharedNow();
      if (--missing === 0) report({ kind: "received", arrivals });
    });
  };
  for (let watcher = 0; watcher < watchers; watcher++) await open(watcher);
  report({ kind: "opened" });
}
