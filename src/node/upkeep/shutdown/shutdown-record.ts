import { isRecord } from "../../../api/object.ts";
import { parseTime, SECOND } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Files } from "../../../host/port.ts";

/**
 * Keeps when the last shutdown began and ended, for readers after the machine has come back. Times are wall clock, in
 * milliseconds.
 */
export interface ShutdownRecord {
  /** Sets the metrics from the file. Never rejects. */
  load(): Promise<void>;
  /** Writes the record. Never rejects, because a shutdown does not wait for its record. */
  write(times: { readonly startedAt: number; readonly endedAt?: number }): Promise<void>;
}

const FILE = "graceful_node_shutdown_state";
const MAX_BYTES = 4_096;
/** Go's zero time, which upstream writes where there is no time. */
const NO_TIME = "0001-01-01T00:00:00Z";

/**
 * Keeps the record in `graceful_node_shutdown_state` in the kubelet's directory, as upstream does
 * (pkg/kubelet/nodeshutdown/storage.go).
 */
export function createShutdownRecord(
  { files, log, metrics }: { files: Pick<Files, "read" | "writeAtomically">; log: Log; metrics: Metrics },
  rootDirectory: string,
): ShutdownRecord {
  const path = `${rootDirectory}/${FILE}`;
  const gaugeOf = (edge: "start" | "end") =>
    metrics.gauge(
      `kubelet_graceful_shutdown_${edge}_time_seconds`,
      `Last graceful shutdown ${edge} time since unix epoch in seconds`,
    );
  const [started, ended] = [gaugeOf("start"), gaugeOf("end")];
  const show = (startedAt: number | undefined, endedAt: number | undefined) => {
    started.set(secondsOf(startedAt));
    ended.set(secondsOf(endedAt));
  };
  return {
    async load() {
      try {
        const state: unknown = JSON.parse((await files.read(path, MAX_BYTES)).toString("utf8"));
        if (isRecord(state)) show(readTime(state["startTime"]), readTime(state["endTime"]));
      } catch (error) {
        if (codeOf(error) === "ENOENT") return;
        log.error("Failed to load graceful shutdown state", { path, error: messageOf(error) });
      }
    },
    async write({ startedAt, endedAt }) {
      show(startedAt, endedAt);
      const state = { startTime: timeText(startedAt), endTime: endedAt === undefined ? NO_TIME : timeText(endedAt) };
      try {
        await files.writeAtomically(path, JSON.stringify(state), 0o644);
      } catch (error) {
        log.error("Failed to store graceful shutdown state", { path, error: messageOf(error) });
      }
    },
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function readTime(value: unknown): number | undefined {
  return typeof value === "string" && value !== NO_TIME ? parseTime(value) : undefined;
}

function secondsOf(ms: number | undefined): number {
  return ms === undefined ? 0 : Math.floor(ms / SECOND);
}
