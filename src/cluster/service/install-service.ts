import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import { isSystemdBooted } from "../processes/find-systemd.ts";
import { runCommand } from "../processes/run-command.ts";
import { commandOfUnit, computeUnitFile, SERVICE_NAME, type ServiceChoices } from "./unit-file.ts";

/** Where an administrator's units lie (systemd.unit(5)). */
const UNITS = "/etc/systemd/system";
/** Where packages put theirs. */
const PACKAGED_UNITS = ["/usr/lib/systemd/system", "/lib/systemd/system"];
const UNIT_MODE = 0o644;
/** What the journal has of a start that failed. */
const JOURNAL_LINES = "20";
/** Longer than the unit gives a start and a stop together. */
const SYSTEMCTL_TIMEOUT_MS = 1_350_000;

/**
 * Writes the unit, makes it start with the machine, and starts it, or starts it anew where it runs. Resolves when the
 * service says that it is ready. Rejects with `no-systemd`, `not-written` or `not-started`, with the end of its log.
 */
export async function installService(choices: ServiceChoices): Promise<{ path: string }> {
  requireSystemd("run nodelet by the init system of this machine: nodelet up, or nodelet kubelet");
  const path = join(UNITS, SERVICE_NAME);
  try {
    await writeFile(path, computeUnitFile(choices), { mode: UNIT_MODE });
  } catch (error) {
    throw new CodedError("not-written", `${path} cannot be written: ${messageOf(error)}${mendOf(error)}`);
  }
  await runSystemctl("daemon-reload");
  await runSystemctl("enable", SERVICE_NAME);
  const since = `@${Math.floor(Date.now() / 1000)}`;
  try {
    await runSystemctl("restart", SERVICE_NAME);
  } catch (error) {
    const about = ["-u", SERVICE_NAME, `--since=${since}`, "-n", JOURNAL_LINES];
    const log = await runCommand("journalctl", [...about, "--no-pager", "-o", "cat"]);
    const words = `the service does not start, and is tried again: ${messageOf(error)}\n${log.trimEnd()}`;
    throw new CodedError("not-started", `${words}\nFollow it: journalctl -fu nodelet   Give up: nodelet uninstall`);
  }
  return { path };
}

/** Stops the service and removes its unit. Pods run on. The result is what it ran; undefined where there was none. */
export async function uninstallService(): Promise<ServiceChoices["command"] | undefined> {
  requireSystemd("there is no service of nodelet to remove");
  const path = join(UNITS, SERVICE_NAME);
  if (!existsSync(path)) return undefined;
  const command = commandOfUnit(await readFile(path, "utf8"));
  await runSystemctl("disable", "--now", SERVICE_NAME);
  await rm(path, { force: true });
  await runSystemctl("daemon-reload");
  await runCommand("systemctl", ["reset-failed", SERVICE_NAME]).catch(() => undefined);
  return command;
}

/** What systemd says of the service that `nodelet install` or a package has put on the machine: `active`, `inactive`, … */
export async function readServiceState(): Promise<string | undefined> {
  if (!isSystemdBooted()) return undefined;
  if (![UNITS, ...PACKAGED_UNITS].some((units) => existsSync(join(units, SERVICE_NAME)))) return undefined;
  return (await runSystemctl("show", "--property=ActiveState", "--value", SERVICE_NAME)).trim();
}

function requireSystemd(mend: string): void {
  if (!isSystemdBooted()) throw new CodedError("no-systemd", `systemd does not run this machine: ${mend}`);
}

/** Runs systemctl for as long as a service may take to start or stop, and returns what it prints. */
export async function runSystemctl(...args: string[]): Promise<string> {
  return await runCommand("systemctl", ["--quiet", ...args], { timeoutMs: SYSTEMCTL_TIMEOUT_MS });
}

function mendOf(error: unknown): string {
  return codeOf(error) === "EROFS"
    ? `; make ${UNITS} writable, or write a unit of your own to /run/systemd/system`
    : "";
}
