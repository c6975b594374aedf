import { type LiveKind, type LiveMessage, type LiveObjects, MAX_EVENTS } from "./live-message.ts";

/** Everything that the page knows of one kind. */
export interface FollowedKind<T> {
  readonly objects: ReadonlyMap<string, T>;
  /** False until the first list is complete. */
  readonly hasSynced: boolean;
  /** Why it cannot be kept up to date; undefined while it is. */
  readonly trouble: { readonly reason: string; readonly message: string } | undefined;
}

/** Follows the messages of a stream, and of those that come after it. */
export interface ObjectTables {
  table<K extends LiveKind>(kind: K): FollowedKind<LiveObjects[K]>;
  apply(message: LiveMessage): void;
  /** A new stream begins: what it does not tell until it has synced is gone. */
  begin(): void;
}

interface MutableTable<T = LiveObjects[LiveKind]> {
  objects: Map<string, T>;
  told: Set<string>;
  hasSynced: boolean;
  isSyncing: boolean;
  trouble: FollowedKind<unknown>["trouble"];
}

/** A page that is open for a day holds no more than this of a kind; what was told longest ago goes. */
const MAX_OBJECTS = 10_000;

export function createObjectTables(): ObjectTables {
  const tables: { readonly [K in LiveKind]: MutableTable<LiveObjects[K]> } = {
    pods: createTable(),
    nodes: createTable(),
    services: createTable(),
    endpointSlices: createTable(),
    events: createTable(),
  };
  return {
    table: (kind) => tables[kind],
    begin() {
      for (const table of Object.values(tables)) Object.assign(table, { told: new Set(), isSyncing: true });
    },
    apply(message) {
      const table: MutableTable = tables[message.kind];
      switch (message.type) {
        case "put":
          put(table, message.objects, message.kind === "events" ? MAX_EVENTS : MAX_OBJECTS);
          break;
        case "gone":
          for (const uid of message.uids) table.objects.delete(uid);
          break;
        case "synced":
          if (table.isSyncing) dropUntold(table);
          table.hasSynced = true;
          table.trouble = undefined;
          break;
        case "trouble":
          table.trouble = { reason: message.reason, message: message.message };
          break;
        case "fine":
          table.trouble = undefined;
          break;
        default:
          // A newer server may say more.
          break;
      }
    },
  };
}

function createTable<T>(): MutableTable<T> {
  return { objects: new Map(), told: new Set(), hasSynced: false, isSyncing: true, trouble: undefined };
}

/** What was changed last stands last, so that the first is what goes. */
function put(table: MutableTable, objects: readonly LiveObjects[LiveKind][], most: number): void {
  for (const object of objects) {
    const uid = object.metadata?.uid ?? "";
    table.objects.delete(uid);
    table.objects.set(uid, object);
    if (table.isSyncing) table.told.add(uid);
  }
  for (const uid of table.objects.keys()) {
    if (table.objects.size <= most) break;
    table.objects.delete(uid);
  }
}

function dropUntold(table: MutableTable): void {
  for (const uid of table.objects.keys()) if (!table.told.has(uid)) table.objects.delete(uid);
  Object.assign(table, { told: new Set(), isSyncing: false });
}
