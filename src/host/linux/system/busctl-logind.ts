import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { type Logind, LogindError, type ShutdownDelay, type ShutdownListener } from "../../logind-port.ts";
import type { Programs } from "../../programs-port.ts";
import { BUS_TIMEOUT_MS, describeBusFailure, parseBusProperty, runBusctl } from "./busctl.ts";
import { type Conversation, talkToProgram } from "./talk-to-program.ts";

const SERVICE = "org.freedesktop.login1";
const OBJECT = "/org/freedesktop/login1";
const INTERFACE = "org.freedesktop.login1.Manager";
const SIGNAL = "PrepareForShutdown";
const SYSTEMD = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
const SIGHUP = "1";
/** `busctl monitor` prints this when it has become a monitor. */
const WATCHING = "Monitoring bus message stream.";
const ECHO = "held\n";

interface LogindDeps {
  readonly programs: Pick<Programs, "run">;
  readonly clock: Clock;
}

/**
 * Speaks to logind through systemd's own `busctl` and `systemd-inhibit`: an open file that the bus hands over holds a
 * shutdown up, and Node.js cannot receive one.
 */
export function createBusctlLogind({ programs, clock }: LogindDeps): Logind {
  const busctl = async (args: readonly string[], signal: AbortSignal): Promise<string> => {
    const outcome = await runBusctl(programs, args, signal);
    if (outcome.kind === "printed") return outcome.stdout.toString("utf8");
    throw new LogindError(outcome.kind === "missing" ? "missing" : "failed", describeBusFailure(outcome));
  };
  const readProperty = async (property: string, signal: AbortSignal): Promise<unknown> =>
    parseBusProperty(await busctl(["get-property", SERVICE, OBJECT, INTERFACE, property], signal));
  return {
    readInhibitDelayMs: async (signal) => Number(await readProperty("InhibitDelayMaxUSec", signal)) / 1_000,
    isPreparingForShutdown: async (signal) => (await readProperty("PreparingForShutdown", signal)) === true,
    async reloadConfiguration(signal) {
      await busctl(["call", ...SYSTEMD, "KillUnit", "ssi", "systemd-logind.service", "all", SIGHUP], signal);
    },
    delayShutdown: async (why, signal) => await delayShutdown(clock, why, signal),
    watchShutdowns: async (listener, signal) => await watchShutdowns(clock, listener, signal),
  };
}

/**
 * `systemd-inhibit` holds the delay while the program that it runs goes on. That program is a `cat`: its echo says that
 * the delay has begun, and it ends with the pipe to it, which also closes when this process is killed.
 */
async function delayShutdown(clock: Clock, why: string, signal: AbortSignal): Promise<ShutdownDelay> {
  throwIfAborted(signal);
  const args = ["--what=shutdown", "--who=kubelet", `--why=${why}`, "--mode=delay", "cat"];
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const inhibit = talkToProgram({ path: "systemd-inhibit", args }, { onOutput: () => begin() }, clock);
  const timer = clock.setTimer(BUS_TIMEOUT_MS, inhibit.kill);
  signal.addEventListener("abort", inhibit.kill, { once: true });
  try {
    inhibit.say(ECHO);
    await Promise.race([begun, refuseEnd("systemd-inhibit", inhibit, signal)]);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", inhibit.kill);
  }
  return {
    async release() {
      inhibit.endInput();
      await inhibit.ended;
    },
  };
}

async function watchShutdowns(clock: Clock, listener: ShutdownListener, signal: AbortSignal): Promise<never> {
  throwIfAborted(signal);
  const match = `type='signal',sender='${SERVICE}',path='${OBJECT}',interface='${INTERFACE}',member='${SIGNAL}'`;
  // Without this a monitor would not notice before the next shutdown that its reader was killed.
  const args = ["--pdeathsig", "KILL", "--", "busctl", "--system", "--json=short", `--match=${match}`, "monitor"];
  const onOutput = (line: string) => {
    const isAnnounced = readAnnouncement(line);
    if (isAnnounced !== undefined) listener.onShutdown(isAnnounced);
  };
  const onError = (line: string) => {
    if (line.startsWith(WATCHING)) listener.onWatching();
  };
  const monitor = talkToProgram({ path: "setpriv", args }, { onOutput, onError }, clock);
  signal.addEventListener("abort", monitor.kill, { once: true });
  try {
    return await refuseEnd("busctl monitor", monitor, signal);
  } finally {
    signal.removeEventListener("abort", monitor.kill);
  }
}

/** Returns undefined for a line that announces nothing: the monitor also reports that the bus is gone. */
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

/** Rejects once the program has ended, which it should not do by itself. */
async function refuseEnd(name: string, { ended }: Conversation, signal: AbortSignal): Promise<never> {
  const { end, stderr } = await ended;
  if (signal.aborted) throw new AbortedError();
  if (end.kind === "missing") {
    throw new LogindError("missing", `${name} cannot be started: a program of systemd is not installed`);
  }
  const how = end.kind === "ended" ? "ended" : end.problem;
  throw new LogindError("failed", `${name} ${how}${stderr === "" ? "" : `: ${stderr}`}`);
}
