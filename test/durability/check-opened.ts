import type { Opened, Write } from "./lines.ts";

/** What must be found again, as far as it has been verified. */
export interface Known {
  /** Everything up to here was found again once. */
  readonly revision: number;
  /** By key. */
  readonly objects: ReadonlyMap<string, Write>;
}

/**
 * Compares what was found with what was known before and what was acknowledged since. What was written, but not
 * acknowledged before the kill, may be there or not; when it is, then as a whole and in the order in which it was made.
 */
export function checkOpened(
  known: Known,
  acknowledged: readonly Write[],
  opened: Opened,
): { next: Known; extra: number } {
  if (opened.isExpired) throw new Error(`the history after revision ${known.revision} is gone`);
  const expected = [...acknowledged].sort((a, b) => a.revision - b.revision);
  for (const [index, write] of expected.entries()) {
    const found = opened.events[index];
    if (!isSame(found, write)) {
      throw new Error(
        `acknowledged, but not there: ${JSON.stringify(write)}; in its place is ${JSON.stringify(found)}`,
      );
    }
  }
  checkOrder(known.revision, opened.events);
  const extra = opened.events.slice(expected.length);
  checkExtra(expected.at(-1), extra);
  const objects = applyAll(known.objects, opened.events);
  checkObjects(objects, opened);
  const revision = opened.events.at(-1)?.revision ?? known.revision;
  if (opened.revision !== revision) throw new Error(`the store is at ${opened.revision}, its history at ${revision}`);
  return { next: { revision, objects }, extra: extra.length };
}

function checkOrder(after: number, events: readonly Write[]): void {
  let last = after;
  for (const { revision } of events) {
    if (revision <= last) throw new Error(`revision ${revision} comes after ${last}`);
    last = revision;
  }
}

/** They continue where the acknowledged ones end: nothing is left out between two that are there. */
function checkExtra(last: Write | undefined, extra: readonly Write[]): void {
  let sequence = last?.sequence ?? 0;
  for (const write of extra) {
    sequence++;
    const isNext = write.sequence === sequence && (last === undefined || write.run === last.run);
    if (!isNext) throw new Error(`found, but not next after sequence ${sequence - 1}: ${JSON.stringify(write)}`);
  }
}

function checkObjects(objects: ReadonlyMap<string, Write>, opened: Opened): void {
  for (const found of opened.objects) {
    const expected = objects.get(found.key);
    if (!isSame(found, expected)) {
      throw new Error(`${found.key} is ${JSON.stringify(found)} and should be ${JSON.stringify(expected)}`);
    }
    if (found.stamp !== String(found.revision)) throw new Error(`${found.key} says ${found.stamp} as its version`);
  }
  if (opened.objects.length !== objects.size) {
    throw new Error(`${opened.objects.length} objects are there and should be ${objects.size}`);
  }
}

function applyAll(objects: ReadonlyMap<string, Write>, events: readonly Write[]): Map<string, Write> {
  const result = new Map(objects);
  for (const event of events) {
    if (event.type === "put") result.set(event.key, event);
    else result.delete(event.key);
  }
  return result;
}

function isSame(a: Write | undefined, b: Write | undefined): boolean {
  const fields = ["type", "key", "revision", "run", "sequence"] as const;
  return a !== undefined && b !== undefined && fields.every((field) => a[field] === b[field]);
}
