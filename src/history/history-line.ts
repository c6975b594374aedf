import { tryParseJson } from "../base/parse-json.ts";
import type { Cause, TimelineRecord } from "../base/timeline.ts";

/** The first line of each file of the history. A file that begins with anything else is of another version, or no history. */
export const HISTORY_HEADER = '{"nodeletHistory":1}\n';

/** A longer message is cut: the output of a hook may be as long as its program likes. */
const MAX_MESSAGE_LENGTH = 4_096;

/**
 * Formats a record as one line of JSON. The pod comes first, so that a search for its records need not parse the lines
 * of all the others; JSON escapes quotes and line ends, so that no message looks like the beginning of a line.
 */
export function formatHistoryLine({ pod, at, firstAt, ...rest }: TimelineRecord): string {
  const { count, type, reason, message, container, tookMs, causes, isProgress } = rest;
  const { namespace, name, uid } = pod;
  const decision = {
    type,
    reason,
    message: cut(message),
    container,
    tookMs,
    isProgress,
    causes: causes?.map(cutCause),
  };
  const line = { pod: { namespace, name, uid }, at, firstAt, count, ...decision };
  return `${JSON.stringify(line)}\n`;
}

function cut(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
}

function cutCause({ reason, message, at }: Cause): Cause {
  return { reason, message: cut(message), at };
}

/** Returns what the line of each record of the pods begins with that have this namespace and, where given, this name. */
export function historyLinePrefix({ namespace, name }: { readonly namespace: string; readonly name?: string }): string {
  const begin = `{"pod":{"namespace":${JSON.stringify(namespace)},"name":`;
  return name === undefined ? begin : `${begin}${JSON.stringify(name)},`;
}

/** Parses a line; undefined for one that is torn or no record. */
export function parseHistoryLine(line: string): TimelineRecord | undefined {
  const value = tryParseJson(line);
  if (!isFields(value) || !isFields(value["pod"])) return undefined;
  const { at, firstAt, count, type, reason, message, container, tookMs, causes, isProgress } = value;
  const { namespace, name, uid } = value["pod"];
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return undefined;
  if (typeof at !== "number" || typeof firstAt !== "number" || typeof count !== "number") return undefined;
  if (typeof reason !== "string" || typeof message !== "string") return undefined;
  return {
    pod: { namespace, name, uid },
    at,
    firstAt,
    count,
    type: type === "Warning" ? "Warning" : "Normal",
    reason,
    message,
    ...(typeof container === "string" && { container }),
    ...(typeof tookMs === "number" && { tookMs }),
    ...(isProgress === true && { isProgress }),
    ...(Array.isArray(causes) && { causes: causes.flatMap(parseCause) }),
  };
}

/** Parses a cause, as a list of one or none. */
function parseCause(value: unknown): Cause[] {
  if (!isFields(value)) return [];
  const { reason, message, at } = value;
  const isWhole = typeof reason === "string" && typeof message === "string" && typeof at === "number";
  return isWhole ? [{ reason, message, at }] : [];
}

const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const HEAD = new RegExp(`^{"pod":{"namespace":${TEXT},"name":${TEXT},"uid":(${TEXT})},"at":(\\d+)`);

/** Reads the pod and the time of a line without parsing all of it; undefined for a line that is no record. */
export function readHistoryLineHead(line: string): { readonly uid: string; readonly at: number } | undefined {
  const [, uid, at] = HEAD.exec(line) ?? [];
  return uid === undefined ? undefined : { uid: String(tryParseJson(uid)), at: Number(at) };
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
