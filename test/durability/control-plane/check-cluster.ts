import { isRecord, type KubeObject } from "../../../src/api/object.ts";
import type { ApiClient } from "../../contract/api/client.ts";
import type { WatchEvent } from "../../contract/api/watch-stream.ts";
import type { Ledger, Value } from "./ledger.ts";
import { CONFIG_MAPS, configMap, LABELS, revisionOf } from "./writers.ts";

/** A change as a watcher saw it. */
interface Seen {
  readonly name: string;
  readonly value: Value;
  readonly revision: number;
}

/** Where watching began, and all that was seen since. */
export interface Watched {
  readonly objects: ReadonlyMap<string, Value>;
  readonly events: Seen[];
  /** To go on from here. */
  revision: number;
}

const SELECTOR = Object.entries(LABELS)
  .map(([key, value]) => `${key}=${value}`)
  .join();
/** The object that a check writes, by which it knows that a watch has told everything before. */
const MARKER = "marker";

/**
 * Compares what is there with what was acknowledged. `isSalvaged`: the database was damaged on purpose, so that objects
 * may be missing, older or back, but never anything else. Brings the ledger up to date.
 */
export async function checkObjects(api: ApiClient, ledger: Ledger, isSalvaged: boolean): Promise<void> {
  const { items, resourceVersion } = await api.list(CONFIG_MAPS, { labelSelector: SELECTOR });
  const found = new Map<string, Value>(items.map((item) => [item.metadata.name ?? "", readValue(item)]));
  if (Number(resourceVersion) < ledger.revision) {
    throw new Error(`the revision went back from ${ledger.revision} to ${resourceVersion}`);
  }
  for (const name of new Set([...found.keys(), ...ledger.known.keys(), ...ledger.open.keys()])) {
    if (name === MARKER) continue;
    checkObject(name, found.get(name), ledger, isSalvaged);
    ledger.known.set(name, found.get(name));
  }
  if (!isSalvaged) checkRevisions(items, ledger);
  ledger.open.clear();
  ledger.revision = Number(resourceVersion);
}

function checkObject(name: string, value: Value, ledger: Ledger, isSalvaged: boolean): void {
  const wanted = ledger.known.get(name);
  if (value !== undefined && ledger.refused.has(value)) throw new Error(`${name} has ${value}, which was refused`);
  if (isSalvaged) {
    if (value === undefined || ledger.sent.get(name)?.has(value)) return;
    throw new Error(`${name} has ${value}, which nobody wrote`);
  }
  if (value === wanted || (ledger.open.has(name) && value === ledger.open.get(name))) return;
  const open = ledger.open.has(name) ? `, or ${ledger.open.get(name)}, which nobody answered` : "";
  throw new Error(`${name} has ${value}, and ${wanted} was acknowledged${open}`);
}

/** An object that is as it was acknowledged has the revision that was told. */
function checkRevisions(items: readonly KubeObject[], { acknowledged }: Ledger): void {
  for (const item of items) {
    const told = acknowledged.findLast(({ name }) => name === item.metadata.name);
    if (told?.revision === undefined || told.value !== readValue(item)) continue;
    const revision = revisionOf({ body: item });
    if (revision !== told.revision) throw new Error(`${told.name} is at ${revision}, and ${told.revision} was told`);
  }
}

/** Lists and follows the changes until the server is gone. */
export async function watchUntilKilled(api: ApiClient): Promise<{ watched: Watched; ended: Promise<void> }> {
  const { items, resourceVersion } = await api.list(CONFIG_MAPS, { labelSelector: SELECTOR });
  const objects = new Map<string, Value>(items.map((item) => [item.metadata.name ?? "", readValue(item)]));
  const watched: Watched = { objects, events: [], revision: Number(resourceVersion) };
  const stream = await api.watch(CONFIG_MAPS, { labelSelector: SELECTOR, resourceVersion });
  const follow = async () => {
    for (;;) note(watched, await stream.next());
  };
  return { watched, ended: follow().catch(() => undefined) };
}

/**
 * Goes on with a watch from before the kill: together both parts tell every acknowledged change once and in order, and
 * lead to what is there now. False when the history does not reach back so far.
 */
export async function checkWatch(api: ApiClient, watched: Watched, ledger: Ledger): Promise<boolean> {
  const path = `${CONFIG_MAPS}/${MARKER}`;
  const body = configMap(MARKER, `${Math.random()}`);
  const created = await api.json("POST", CONFIG_MAPS, body);
  const marker = created.status === 409 ? await api.json("PUT", path, body) : created;
  const until = revisionOf(marker);
  const query = { labelSelector: SELECTOR, resourceVersion: String(watched.revision) };
  const stream = await api.watch(CONFIG_MAPS, query).catch((error: unknown) => {
    if (String(error).includes("Expired")) return undefined;
    throw error;
  });
  if (stream === undefined) return false;
  while (watched.revision < until) {
    const event = await stream.next();
    if (event.type === "ERROR" && event.object["code"] === 410) return false;
    note(watched, event);
  }
  stream.close();
  checkEvents(watched, ledger);
  return true;
}

function note(watched: Watched, { type, object }: WatchEvent): void {
  const revision = revisionOf({ body: object });
  if (!["ADDED", "MODIFIED", "DELETED"].includes(type)) throw new Error(`the watch told ${JSON.stringify(object)}`);
  if (revision <= watched.revision) throw new Error(`the watch told ${revision} after ${watched.revision}`);
  const value = type === "DELETED" ? undefined : readValue(object);
  watched.events.push({ name: object.metadata.name ?? "", value, revision });
  watched.revision = revision;
}

function checkEvents({ objects, events }: Watched, { acknowledged, known, refused }: Ledger): void {
  const places = new Map<string, number>();
  for (const { name, value, revision } of acknowledged) {
    const from = places.get(name) ?? 0;
    const place = events.findIndex((event, index) => index >= from && event.name === name);
    const event = events[place];
    if (event === undefined || event.value !== value || (revision ?? event.revision) !== event.revision) {
      throw new Error(
        `the watch told ${JSON.stringify(event)} of ${name}, and ${value} at ${revision} was acknowledged`,
      );
    }
    places.set(name, place + 1);
  }
  const state = new Map(objects);
  for (const { name, value } of events) {
    if (value !== undefined && refused.has(value)) throw new Error(`the watch told ${value}, which was refused`);
    state.set(name, value);
  }
  for (const [name, value] of known) {
    if (state.get(name) !== value) throw new Error(`by the watch ${name} has ${state.get(name)}, and it has ${value}`);
  }
}

function readValue(object: KubeObject): string {
  const data = isRecord(object["data"]) ? object["data"] : {};
  return String(data["value"]);
}
