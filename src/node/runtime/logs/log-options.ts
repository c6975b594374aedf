import { isBefore, type LogTime, logTimeOf, parseLogTime } from "./log-time.ts";

/** Which part of a log is wanted, and in which form: the fields of PodLogOptions that a node uses. */
export interface LogOptions {
  /** Follow the log until the container has ended. */
  readonly follow: boolean;
  /** The log of the container's previous run is wanted. */
  readonly previous: boolean;
  /** Begin each line with the time of its record. */
  readonly timestamps: boolean;
  /** Only this many last lines are wanted, counted in the runtime's records. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Lines before this are left out. */
  readonly since: LogTime | undefined;
  readonly stream: LogStreamChoice;
}

type LogStreamChoice = "All" | "Stdout" | "Stderr";

type DecodedLogOptions =
  | { readonly kind: "options"; readonly options: LogOptions }
  /** The query cannot be parsed. */
  | { readonly kind: "undecodable" }
  /** The query can be parsed, but its values are not allowed. */
  | { readonly kind: "invalid" };

const HIGHEST_INT64 = 2n ** 63n - 1n;

/**
 * Reads a query as upstream's parameter codec does, with the older `tail` (pkg/kubelet/server/server.go,
 * getContainerLogs), and validates it (pkg/apis/core/v1/validation, ValidatePodLogOptions). Unknown parameters, `pretty`
 * among them, mean nothing.
 */
export function decodeLogOptions(query: URLSearchParams, now: number): DecodedLogOptions {
  const tail = query.get("tail") ?? "";
  const numbers = {
    tailLines: tail === "all" ? undefined : readInt64(tail === "" ? query.get("tailLines") : tail),
    limitBytes: readInt64(query.get("limitBytes")),
    sinceSeconds: readInt64(query.get("sinceSeconds")),
  };
  const { tailLines, limitBytes, sinceSeconds } = numbers;
  const sinceTime = readTime(query.get("sinceTime"));
  const stream = readStream(query.get("stream"));
  if ([tailLines, limitBytes, sinceSeconds, sinceTime].includes("undecodable")) return { kind: "undecodable" };
  if (isBelow(tailLines, 0) || isBelow(limitBytes, 1) || isBelow(sinceSeconds, 1)) return { kind: "invalid" };
  if (sinceSeconds !== undefined && sinceTime !== undefined) return { kind: "invalid" };
  if (stream === undefined || (stream !== "All" && tailLines !== undefined)) return { kind: "invalid" };
  return {
    kind: "options",
    options: {
      follow: readBoolean(query.get("follow")),
      previous: readBoolean(query.get("previous")),
      timestamps: readBoolean(query.get("timestamps")),
      tailLines: numberOf(tailLines),
      limitBytes: numberOf(limitBytes),
      since: latest(sinceSecondsAgo(numberOf(sinceSeconds), now), timeOf(sinceTime)),
      stream,
    },
  };
}

/** Any value but `false` and `0` means true, even an empty one. */
function readBoolean(text: string | null): boolean {
  return text !== null && !["false", "0"].includes(text.toLowerCase());
}

type Read<T> = T | "undecodable" | undefined;

function readInt64(text: string | null): Read<number> {
  if (text === null) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(text)) return "undecodable";
  const value = BigInt(text.replace("+", ""));
  return value > HIGHEST_INT64 || value < -HIGHEST_INT64 - 1n ? "undecodable" : Number(value);
}

/** An empty time and `null` are before all others. */
function readTime(text: string | null): Read<LogTime> {
  if (text === null) return undefined;
  if (text === "" || text === "null") return { seconds: Number.NEGATIVE_INFINITY, nanoseconds: 0 };
  return parseLogTime(text) ?? "undecodable";
}

function readStream(text: string | null): LogStreamChoice | undefined {
  if (text === null) return "All";
  return text === "All" || text === "Stdout" || text === "Stderr" ? text : undefined;
}

const isBelow = (value: Read<number>, least: number) => typeof value === "number" && value < least;
const numberOf = (value: Read<number>) => (typeof value === "number" ? value : undefined);
const timeOf = (value: Read<LogTime>) => (typeof value === "object" ? value : undefined);

function sinceSecondsAgo(seconds: number | undefined, now: number): LogTime | undefined {
  return seconds === undefined ? undefined : logTimeOf(now - seconds * 1_000);
}

function latest(one: LogTime | undefined, other: LogTime | undefined): LogTime | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return isBefore(one, other) ? other : one;
}
