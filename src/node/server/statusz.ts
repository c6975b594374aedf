import { type Clock, MINUTE, SECOND } from "../../base/clock.ts";
import type { Page } from "../../host/http-server.ts";
import type { NodeEndpoint } from "./node-api.ts";

interface StatuszOptions {
  /** The start time of the process, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The version in the form `v1.36.2+…`. */
  readonly version: string;
  /** The other paths that the server serves. */
  readonly paths: readonly string[];
}

const HOUR = 60 * MINUTE;
const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for " +
  "debugging purposes only.";

/**
 * Creates the page `/statusz` for people (KEP-4827, the feature ComponentStatusz). It shows since when the node agent
 * runs, and its version.
 */
export function createStatusz(clock: Pick<Clock, "now">, { startedAt, version, paths }: StatuszOptions): () => Page {
  const binary = version.replace(/^v/, "");
  const emulated = binary.split(".").slice(0, 2).join(".");
  return () => {
    const lines = [
      ["Started", formatUnixDate(startedAt)],
      ["Up", formatUpTime(clock.now() - startedAt)],
      ["Go version", "none"],
      ["Binary version", binary],
      ["Emulation version", emulated],
      ["Paths", [...paths].sort().join(" ")],
    ];
    const body = lines.map(([name, value]) => `${name}:  ${value}\n`).join("");
    return { status: 200, body: `\nkubelet statusz\n${WARNING}\n\n${body}` };
  };
}

const PATH = "/statusz";
/** The paths of the node's own API that are not endpoints. */
const OTHER_PATHS = ["/configz", "/healthz", "/metrics", "/pods", "/runningpods", PATH];
const NOT_FOUND: Page = { status: 404, body: "404 page not found\n" };

/** Adds to the endpoints the page `/statusz`, which names all the others. */
export function withStatusz(
  endpoints: Readonly<Record<string, NodeEndpoint>>,
  { clock, version }: { readonly clock: Pick<Clock, "now">; readonly version: string },
): Record<string, NodeEndpoint> {
  const paths = [...Object.keys(endpoints), ...OTHER_PATHS];
  const page = createStatusz(clock, { startedAt: clock.now(), version, paths });
  return { ...endpoints, [PATH]: ({ path }) => (path === PATH ? page() : NOT_FOUND) };
}

/** Formats a time as Unix' `date` does: `Sun Nov 22 00:22:58 UTC 2026`, with a space before a day of one digit. */
function formatUnixDate(ms: number): string {
  const [weekday = "", day = "", month = "", year = "", time = ""] = new Date(ms).toUTCString().split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function formatUpTime(ms: number): string {
  const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${Math.floor(ms / HOUR)} hr ${twoDigits((ms % HOUR) / MINUTE)} min ${twoDigits((ms % MINUTE) / SECOND)} sec`;
}
