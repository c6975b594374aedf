import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { AbortedError } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import { type Logind, LogindError, type ShutdownDelay, type ShutdownListener } from "../../logind-port.ts";
import { BUS_TIMEOUT_MS, describeBusFailure, parseBusProperty, runBusctl } from "./busctl.ts";
import { systemClock } from "./system-clock.ts";

const SERVICE = "org.freedesktop.login1";
const OBJECT = "/org/freedesktop/login1";
const INTERFACE = "org.freedesktop.login1.Manager";
const SIGNAL = "PrepareForShutdown";
const SYSTEMD = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
const SIGHUP = "1";
const MAX_STDERR_CHARACTERS = 1_024;
/** What `busctl monitor` says when it has become one. */
const WATCHING = "Monitoring bus message stream.";
const ECHO = "held\n";

/**
 * Spoken to through systemd's own `busctl` and `systemd-inhibit`: what holds a shutdown up is an open file that the bus
 * hands over, and Node.js cannot receive one.
 */
export const busctlLogind: Logind = {
  readInhibitDelayMs: async (signal) => Number(await readProperty("InhibitDelayMaxUSec", signal)) / 1_000,
  isPreparingForShutdown: async (signal) => (await readProperty("PreparingForShutdown", signal)) === true,
  async reloadConfiguration(signal) {
    await busctl(["call", ...SYSTEMD, "KillUnit", "ssi", "systemd-logind.service", "all", SIGHUP], signal);
  },
  delayShutdown,
  watchShutdowns,
};

async function readProperty(property: string, signal: AbortSignal): Promise<unknown> {
  return parseBusProperty(await busctl(["get-property", SERVICE, OBJECT, INTERFACE, property], signal));
}

async function busctl(args: readonly string[], signal: AbortSignal): Promise<string> {
  const outcome = await runBusctl(args, signal);
  if (outcome.kind === "printed") return outcome.stdout.toString("utf8");
  throw new LogindError(outcome.kind === "missing" ? "missing" : "failed", describeBusFailure(outcome));
}

/**
 * `systemd-inhibit` holds the delay while the program that it runs goes on: a `cat`, whose echo says that it has begun
 * and which ends with the pipe to it, so also when this process is killed.
 */
async function delayShutdown(why: string, signal: AbortSignal): Promise<ShutdownDelay> {
  if (signal.aborted) throw new AbortedError();
  const args = ["--what=shutdown", "--who=kubelet", `--why=${why}`, "--mode=delay", "cat"];
  const child = spawn("systemd-inhibit", args, { stdio: ["pipe", "pipe", "pipe"] });
  const end = observeEnd("systemd-inhibit", child);
  child.stdin.on("error", () => undefined);
  const release = async () => {
    child.stdin.end();
    await end.ended;
  };
  const timer = systemClock.setTimer(BUS_TIMEOUT_MS, () => child.kill("SIGKILL"));
  const onAbort = () => child.kill("SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      void end.ended.then(() => reject(signal.aborted ? new AbortedError() : end.failure()));
      child.stdin.write(ECHO);
    });
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
  return { release };
}

async function watchShutdowns(listener: ShutdownListener, signal: AbortSignal): Promise<never> {
  if (signal.aborted) throw new AbortedError();
  const match = `type='signal',sender='${SERVICE}',path='${OBJECT}',interface='${INTERFACE}',member='${SIGNAL}'`;
  // A monitor would not notice that its reader was killed before the next shutdown.
  const args = ["--pdeathsig", "KILL", "--", "busctl", "--system", "--json=short", `--match=${match}`, "monitor"];
  const child = spawn("setpriv", args, { stdio: ["ignore", "pipe", "pipe"] });
  const end = observeEnd("busctl monitor", child);
  const onAbort = () => child.kill("SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.startsWith(WATCHING)) listener.onWatching();
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      const isAnnounced = readAnnouncement(line);
      if (isAnnounced !== undefined) listener.onShutdown(isAnnounced);
    });
    await end.ended;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  throw signal.aborted ? new AbortedError() : end.failure();
}

/** Undefined for a message that is none: the monitor also hears that the bus is gone. */
function readAnnouncement(line: string): boolean | undefined {
  let message: { member?: unknown; payload?: { data?: unknown } };
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (message?.member !== SIGNAL) return undefined;
  const [isAnnounced] = Array.isArray(message.payload?.data) ? message.payload.data : [];
  return typeof isAnnounced === "boolean" ? isAnnounced : undefined;
}

/** `ended` never rejects; `failure` says, after it, how. */
function observeEnd(name: string, child: ChildProcess): { ended: Promise<void>; failure(): LogindError } {
  let stderr = "";
  let failure = new LogindError("failed", `${name} ended`);
  child.stderr?.on("data", (data: Buffer) => {
    stderr = (stderr + data.toString("utf8")).slice(-MAX_STDERR_CHARACTERS);
  });
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      if (child.pid !== undefined) return;
      failure = new LogindError("missing", `${name}, a program of systemd, cannot be started: ${messageOf(error)}`);
      resolve();
    });
    child.once("close", (code, killedBy) => {
      const how = killedBy === null ? `ended with exit code ${code}` : `was killed by ${killedBy}`;
      failure = new LogindError("failed", `${name} ${how}${stderr.trim() === "" ? "" : `: ${stderr.trim()}`}`);
      resolve();
    });
  });
  return { ended, failure: () => failure };
}
