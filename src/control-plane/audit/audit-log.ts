import type { Clock } from "../../base/clock.ts";
import { codeOf, isNoSpace, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Files } from "../../host/port.ts";

/** Takes events, and never makes a request wait. */
export interface AuditSink {
  /** Writes the line soon, or counts it as lost. */
  write(line: string): void;
  /** Writes what was taken, for a few seconds at most. Nothing is taken afterwards. */
  close(): Promise<void>;
}

/** Where the lines go. */
export interface AuditOutput {
  /** Rejects where they could not be written; a part may then be there. */
  append(lines: string): Promise<void>;
}

interface AuditLogDeps {
  readonly output: AuditOutput;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Lines that wait for a disk that is slow take no more memory than this; further ones are lost, and it is told. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** So much is written at once. */
const MAX_WRITE_BYTES = 1024 * 1024;
/** How often it is told that events are lost. */
const COMPLAINT_INTERVAL_MS = 60_000;
/** How long the end waits for the disk. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Writes events in order, many at once. Events that the output does not take are lost, counted and told in the log. */
export function createAuditLog({ output, clock, log, metrics }: AuditLogDeps): AuditSink {
  const written = metrics.counter("apiserver_audit_event_total", "Audit events that were handed to the log.", []);
  const failed = metrics.counter("apiserver_audit_error_total", "Audit events that were lost.", ["plugin"]);
  let waiting: string[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> | undefined;
  let isClosed = false;
  /** Events that were lost since that was last told. */
  let lost = 0;
  let toldAt = Number.NEGATIVE_INFINITY;

  const lose = (count: number, why: string) => {
    failed.add({ plugin: "log" }, count);
    lost += count;
    if (clock.monotonic() - toldAt < COMPLAINT_INTERVAL_MS) return;
    toldAt = clock.monotonic();
    log.error("Audit events are lost: the audit log takes none", { lost, error: why });
    lost = 0;
  };
  const take = (): string[] => {
    let bytes = 0;
    let count = 0;
    while (count < waiting.length && (count === 0 || bytes < MAX_WRITE_BYTES)) bytes += waiting[count++]?.length ?? 0;
    const lines = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingBytes -= bytes;
    return lines;
  };
  const drain = async () => {
    while (waiting.length > 0) {
      const lines = take();
      try {
        await output.append(`${lines.join("\n")}\n`);
        if (toldAt !== Number.NEGATIVE_INFINITY) {
          log.info("Audit events are written again", { lost });
          toldAt = Number.NEGATIVE_INFINITY;
          lost = 0;
        }
      } catch (error) {
        lose(lines.length, isNoSpace(error) ? "the disk is full" : messageOf(error));
      }
    }
    writing = undefined;
  };
  return {
    write(line) {
      if (isClosed || waitingBytes + line.length > MAX_WAITING_BYTES) {
        lose(1, isClosed ? "the server ends" : "the disk is too slow");
        return;
      }
      written.add({});
      waiting.push(line);
      waitingBytes += line.length;
      // What comes in the same turn is written together.
      writing ??= Promise.resolve().then(drain);
    },
    async close() {
      isClosed = true;
      if (writing === undefined) return;
      let end = () => {};
      const isOver = new Promise<void>((resolve) => {
        end = resolve;
      });
      const timer = clock.setTimer(CLOSE_TIMEOUT_MS, () => end());
      await Promise.race([writing, isOver]);
      timer.cancel();
      if (waiting.length > 0) lose(waiting.length, "the server ends");
    },
  };
}

/** The file of the log and what is kept of former ones. Zero means that there is no such bound. */
export interface AuditFileOptions {
  readonly path: string;
  /** Days for which a full file is kept. */
  readonly maxAgeDays: number;
  /** Full files that are kept. */
  readonly maxBackups: number;
  readonly maxBytes: number;
}

type AuditFiles = Pick<Files, "append" | "list" | "makeDirectory" | "remove" | "rename" | "stat">;

const MODE = 0o600;
const DAY_MS = 86_400_000;

/**
 * Opens the file, which only its owner may read, and makes its directory. A file that is full is renamed by the time, and
 * the oldest are removed. Rejects where the file cannot be written.
 */
export async function openAuditFile(
  { files, clock, log }: { readonly files: AuditFiles; readonly clock: Clock; readonly log: Log },
  options: AuditFileOptions,
): Promise<AuditOutput> {
  const { path, maxBytes } = options;
  const directory = path.slice(0, path.lastIndexOf("/")) || "/";
  if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, 0o700);
  await files.append(path, "", MODE);
  /** The last write may have left a part of a line, and what is there is not known. */
  let isTorn = true;
  let size = 0;

  const rotate = async () => {
    await files.rename(path, backupPath(path, clock.now()));
    size = 0;
    await prune({ files, clock }, options, directory).catch((error: unknown) => {
      log.warn("Old audit logs could not be removed", { directory, error });
    });
  };
  return {
    async append(lines) {
      const bytes = Buffer.byteLength(lines);
      if (isTorn) size = (await files.stat(path))?.sizeBytes ?? 0;
      if (maxBytes > 0 && size > 0 && size + bytes > maxBytes) {
        await rotate().catch((error: unknown) => {
          // Somebody else has moved it away, or there is a file of this name: the next write finds out.
          if (codeOf(error) !== "ENOENT") log.warn("The audit log could not be rotated", { path, error });
        });
      }
      const text = isTorn && size > 0 ? `\n${lines}` : lines;
      isTorn = true;
      await files.append(path, text, MODE);
      isTorn = false;
      size += bytes;
    },
  };
}

/** `/var/log/audit-2026-01-31T10-20-30.400.log` of `/var/log/audit.log`, as upstream names it. */
function backupPath(path: string, now: number): string {
  const [stem, extension] = splitExtension(path);
  const time = new Date(now).toISOString().slice(0, -1).replaceAll(":", "-");
  return `${stem}-${time}${extension}`;
}

function splitExtension(path: string): [stem: string, extension: string] {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? [path.slice(0, dot), path.slice(dot)] : [path, ""];
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

async function prune(
  { files, clock }: { readonly files: AuditFiles; readonly clock: Clock },
  { path, maxAgeDays, maxBackups }: AuditFileOptions,
  directory: string,
): Promise<void> {
  const [stem, extension] = splitExtension(path.slice(path.lastIndexOf("/") + 1));
  const backups = (await files.list(directory)).flatMap(({ name }) => {
    if (!name.startsWith(`${stem}-`) || !name.endsWith(extension)) return [];
    const time = TIME.exec(name.slice(stem.length + 1, name.length - extension.length));
    const [, day, hour, minute, second] = time ?? [];
    const at = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
    return Number.isNaN(at) ? [] : [{ name, at }];
  });
  const newestFirst = backups.toSorted((a, b) => b.at - a.at);
  for (const [index, { name, at }] of newestFirst.entries()) {
    const isSurplus = maxBackups > 0 && index >= maxBackups;
    const isOld = maxAgeDays > 0 && clock.now() - at > maxAgeDays * DAY_MS;
    if (isSurplus || isOld) await files.remove(`${directory}/${name}`);
  }
}
