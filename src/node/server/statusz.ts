import { type Clock, MINUTE, SECOND } from "../../base/clock.ts";
import { createComponentPage } from "./component-page.ts";
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

/**
 * Creates the page `/statusz` (KEP-4827, the feature ComponentStatusz). It shows since when the node agent runs, and its
 * version.
 */
export function createStatusz(clock: Pick<Clock, "now">, { startedAt, version, paths }: StatuszOptions): NodeEndpoint {
  const binaryVersion = version.replace(/^v/, "");
  const emulationVersion = binaryVersion.split(".").slice(0, 2).join(".");
  const sorted = [...new Set(paths.map(firstSegment))].sort();
  return createComponentPage(
    { path: PATH, kind: "Statusz" },
    {
      text() {
        const lines = [
          ["Started", formatUnixDate(startedAt)],
          ["Up", formatUpTime(clock.now() - startedAt)],
          ["Go version", "none"],
          ["Binary version", binaryVersion],
          ["Emulation version", emulationVersion],
          ["Paths", sorted.join(" ")],
        ];
        return lines.map(([name, value]) => `${name}:  ${value}\n`).join("");
      },
      fields: () => ({
        startTime: `${new Date(startedAt).toISOString().slice(0, 19)}Z`,
        uptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAt) / SECOND)),
        goVersion: "none",
        binaryVersion,
        emulationVersion,
        paths: sorted,
      }),
    },
  );
}

const PATH = "/statusz";
/** The paths of the node's own API that are not endpoints. */
const OTHER_PATHS = ["/configz", "/healthz", "/metrics", "/pods", "/runningpods", PATH];

/** Adds to the endpoints the page `/statusz`, which names all the others. */
export function withStatusz(
  endpoints: Readonly<Record<string, NodeEndpoint>>,
  { clock, version }: { readonly clock: Pick<Clock, "now">; readonly version: string },
): Record<string, NodeEndpoint> {
  const paths = [...Object.keys(endpoints), ...OTHER_PATHS];
  return { ...endpoints, [PATH]: createStatusz(clock, { startedAt: clock.now(), version, paths }) };
}

/** Upstream names `/stats` for all that is below it. */
function firstSegment(path: string): string {
  return `/${path.split("/")[1] ?? ""}`;
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
