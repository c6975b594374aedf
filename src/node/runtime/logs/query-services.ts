import { childController, isAbort } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import type { Programs } from "../../../host/programs-port.ts";
import { copyFile } from "./copy-file.ts";
import type { WriteOutput } from "./log-reader.ts";
import type { NodeLogOptions, NodeLogQuery } from "./node-log-query.ts";

export interface QueryServicesDeps {
  readonly files: Pick<Files, "openBeneath">;
  readonly programs: Pick<Programs, "run" | "stream">;
  readonly clock: Clock;
}

/** The time limit of a whole query. */
const TIME_LIMIT_MS = 30 * SECOND;
const JOURNALCTL = ["/usr/bin/journalctl", "/bin/journalctl", "/run/current-system/sw/bin/journalctl"];

/**
 * Writes the logs of services: from the journal where it knows the service, else from the files that services write by
 * custom. Problems are written in between, in upstream's words (pkg/kubelet/kubelet_server_journal.go: copyForBoot).
 */
export async function queryServices(
  deps: QueryServicesDeps,
  { services, options }: NodeLogQuery,
  to: { readonly directory: string; readonly write: WriteOutput; readonly signal: AbortSignal },
): Promise<void> {
  const { controller, release } = childController(to.signal);
  const timer = deps.clock.setTimer(TIME_LIMIT_MS, () => controller.abort());
  const { signal } = controller;
  const say = async (text: string) => await to.write(Buffer.from(text));
  try {
    const journal = await findJournal(deps.programs, signal);
    const isInJournal = (service: string) => journal?.units.includes(`${service}.service`) === true;
    const native = services.filter(isInJournal);
    const others = services.filter((service) => !isInJournal(service));
    if (journal !== undefined && native.length > 0) {
      const args = journalArguments(native, options);
      const run = { path: journal.path, args, environment: {}, stdin: "", timeoutMs: TIME_LIMIT_MS };
      const end = await deps.programs.stream(run, to.write, signal);
      if (end.kind === "missing") await say("\nerror: journal output not available\n");
    }
    if (others.length > 0 && Object.keys(options).length > 0) {
      const list = `[${others.join(" ")}]`;
      await say(`\noptions present and query resolved to log files for ${list}\ntry without specifying options\n`);
    } else {
      for (const service of others) await copyServiceFile(deps, service, { ...to, signal });
    }
    if (journal === undefined) await say("\njournalctl cannot be run on this node: only log files were looked at\n");
  } catch (error) {
    if (!isAbort(error) || to.signal.aborted) throw error;
    await say(`\ncontext error: not done within ${TIME_LIMIT_MS / SECOND} s\n`);
  } finally {
    timer.cancel();
    release();
  }
}

/** Finds journalctl and the units that have written to the journal; undefined where it cannot be asked. */
async function findJournal(
  programs: Pick<Programs, "run">,
  signal: AbortSignal,
): Promise<{ path: string; units: string } | undefined> {
  for (const path of JOURNALCTL) {
    const args = ["--field", "_SYSTEMD_UNIT"];
    const end = await programs.run({ path, args, environment: {}, stdin: "", timeoutMs: TIME_LIMIT_MS }, signal);
    if (end.kind === "printed") return { path, units: end.stdout.toString("utf8") };
    if (end.kind === "failed") return undefined;
  }
  return undefined;
}

/**
 * The arguments of journalctl. No shell sees them, and each value stands in the argument that names it. Upstream passes
 * `sinceTime` for both times.
 */
function journalArguments(services: readonly string[], options: NodeLogOptions): string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = options;
  return [
    "--utc",
    "--no-pager",
    "--output=short-precise",
    ...(sinceTime === undefined ? [] : [`--since=${journalTime(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${journalTime(untilTime)}`]),
    ...(tailLines === undefined ? [] : ["--pager-end", `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`, "--case-sensitive=false"]),
    ...(boot === undefined ? [] : ["--boot", String(boot)]),
  ];
}

/** Formats a time with its zone. Upstream leaves the zone out, and the journal then reads it in the node's own zone. */
function journalTime(text: string): string {
  return `${new Date(text).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

async function copyServiceFile(
  { files }: QueryServicesDeps,
  service: string,
  to: { readonly directory: string; readonly write: WriteOutput; readonly signal: AbortSignal },
): Promise<void> {
  for (const path of [service, `${service}.log`, `${service}/${service}.log`]) {
    try {
      await copyFile(await files.openBeneath(to.directory, path), to);
      return;
    } catch (error) {
      if (isAbort(error)) throw error;
      if (codeOf(error) === "ENOENT" || codeOf(error) === "EISDIR" || codeOf(error) === "ENOTDIR") continue;
      await to.write(Buffer.from(`\nerror getting log for ${service}: ${messageOf(error)}\n`));
      return;
    }
  }
  await to.write(Buffer.from(`\nlog not found for ${service}\n`));
}
