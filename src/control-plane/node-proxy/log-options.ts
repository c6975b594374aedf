import { badRequestError, invalidError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import { forbidden, invalid, unsupported } from "../../api/validation/problems.ts";
import { formatTime } from "../../base/clock.ts";
import { encodeQuery, readFlag, readInteger } from "./query-values.ts";

/** The options of a request for a container's log; see PodLogOptions. */
interface LogOptions {
  /** "" for the pod's only one. */
  readonly container: string;
  /** The query for the node. */
  readonly query: string;
}

const STREAMS = ["All", "Stderr", "Stdout"];

/**
 * Throws BadRequest for values that cannot be read, and Invalid for those that make no sense (`ValidatePodLogOptions`
 * of pkg/apis/core/validation).
 */
export function readLogOptions(query: URLSearchParams, pod: string): LogOptions {
  const sinceSeconds = readInteger(query, "sinceSeconds");
  const sinceTime = readTime(query.get("sinceTime"));
  const tailLines = readInteger(query, "tailLines");
  const limitBytes = readInteger(query, "limitBytes");
  const stream = query.get("stream") ?? "All";
  const problems = [
    ...(tailLines !== undefined && tailLines < 0n ? [invalid("tailLines", tailLines, NEGATIVE)] : []),
    ...atLeastOne("limitBytes", limitBytes),
    ...(sinceSeconds !== undefined && sinceTime !== undefined
      ? [forbidden(WHOLE, "at most one of `sinceTime` or `sinceSeconds` may be specified")]
      : atLeastOne("sinceSeconds", sinceSeconds)),
    ...(STREAMS.includes(stream) ? [] : [unsupported("stream", stream, STREAMS)]),
    ...(stream !== "All" && tailLines !== undefined
      ? [forbidden(WHOLE, "`tailLines` and specific `stream` are mutually exclusive for now")]
      : []),
  ];
  if (problems.length > 0) throw invalidError({ group: "", kind: "PodLogOptions" }, pod, problems);
  const asked: ReadonlyArray<readonly [string, string | undefined]> = [
    ...["follow", "previous", "timestamps"].map((name) => [name, readFlag(query, name) ? "true" : undefined] as const),
    ["sinceSeconds", sinceSeconds?.toString()],
    ["sinceTime", sinceTime === undefined ? undefined : formatTime(sinceTime)],
    ["tailLines", tailLines?.toString()],
    ["limitBytes", limitBytes?.toString()],
    ["stream", stream],
  ];
  const given = asked.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return { container: query.get("container") ?? "", query: encodeQuery(given) };
}

/** Upstream's path for the options as a whole. */
const WHOLE = "[]";
const NEGATIVE = "must be greater than or equal to 0";

function atLeastOne(path: string, value: bigint | undefined): FieldError[] {
  return value !== undefined && value < 1n ? [invalid(path, value, "must be greater than 0")] : [];
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch; undefined for an absent time and for one that counts as absent. */
function readTime(text: string | null): number | undefined {
  if (text === null || text === "" || text === "null") return undefined;
  const time = RFC3339.test(text) ? Date.parse(text.replace(",", ".")) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const quoted = JSON.stringify(text);
  const layout = "2006-01-02T15:04:05Z07:00";
  throw badRequestError(`parsing time ${quoted} as "${layout}": cannot parse ${quoted} as "2006"`);
}
