import { isRecord } from "../../../api/object.ts";

/** A field that differs. */
interface FieldChange {
  readonly path: string;
  /** Undefined when the field was not set. */
  readonly before: unknown;
  /** Undefined when the field is no longer set. */
  readonly after: unknown;
}

/**
 * The fields that Go's types hold by value. Their zero equals an absent field, and a Go client that reads an object and
 * writes it back leaves them out. In all other fields false and 0 have a meaning.
 */
const VALUE_FIELDS = new Set([
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "hostPort",
  "initialDelaySeconds",
  "readOnly",
  "stdin",
  "stdinOnce",
  "tty",
]);

/**
 * Finds the differences in meaning between two values of one type, in the order of the fields. An absent field, an
 * empty list, an empty map and an empty text are equal.
 */
export function findChanges(before: unknown, after: unknown, path: string): FieldChange[] {
  if (isEmpty(before) && isEmpty(after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item: unknown, index) => findChanges(item, after[index], `${path}[${index}]`));
  }
  if (isRecord(before) && isRecord(after)) return findFieldChanges(before, after, path);
  return before === after ? [] : [{ path, before, after }];
}

/** True when nothing differs in meaning. */
export function isSame(before: unknown, after: unknown): boolean {
  return findChanges(before, after, "").length === 0;
}

function findFieldChanges(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: string,
): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [old, next] = [before[name], after[name]].map((value) => (isGoZero(name, value) ? undefined : value));
    return findChanges(old, next, path === "" ? name : `${path}.${name}`);
  });
}

function isGoZero(name: string, value: unknown): boolean {
  return (value === false || value === 0) && VALUE_FIELDS.has(name);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** A message lists this many changes at most. */
const MAX_SHOWN = 10;
const MAX_VALUE_LENGTH = 256;

/** The changes for a message: a line with `-` for each value before and one with `+` for each value after. */
export function formatChanges(changes: readonly FieldChange[]): string {
  const lines = changes
    .slice(0, MAX_SHOWN)
    .flatMap(({ path, before, after }) => [
      ...(before === undefined ? [] : [`- ${path}: ${show(before)}`]),
      ...(after === undefined ? [] : [`+ ${path}: ${show(after)}`]),
    ]);
  if (changes.length > MAX_SHOWN) lines.push(`  ${changes.length - MAX_SHOWN} more`);
  return lines.join("\n");
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}
