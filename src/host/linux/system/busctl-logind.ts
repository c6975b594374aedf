import { AbortedError, sleep, throwIfAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
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
const ECHO = "held\n";
/** A signal of our own. The monitor that shows it shows those of logind too. */
const PROBE = { path: "/io/nodelet/watch", interface: "io.nodelet.Watch", member: "Begun" };
const PROBE_MS = SECOND / 4;

interface BusSignal {
  readonly member: unknown;
  readonly data: unknown;
}

const MATCHES = [
  `type='signal',sender='${SERVICE}',path='${OBJECT}',interface='${INTERFACE}',member='${SIGNAL}'`,
  `type='signal',path='${PROBE.path}',interface='${PROBE.interface}',member='${PROBE.member}'`,
].map((match) => `--match=${match}`);
/** Without `pdeathsig` a monitor would not notice before the next shutdown that its reader was killed. */
const MONITOR = ["--pdeathsig", "KILL", "--", "busctl", "--system", "--json=short", ...MATCHES, "monitor"];

type Busctl = (args: readonly string[], signal: AbortSignal) => Promise<string>;

interface LogindDeps {
  readonly programs: Pick<Programs, "run">;
  readonly clock: Clock;
}

/**
 * Speaks to logind through systemd's own `busctl` and `systemd-inhibit`: an open file that the bus hands over holds a
 * shutdown up, and Node.js cannot receive one.
 */
export function createBusctlLogind({ programs, clock }: LogindDeps): Logind {
  const busctl: Busctl = async (args, signal) => {
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
    watchShutdowns: async (listener, signal) => await watchShutdowns({ busctl, clock }, listener, signal),
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

/**
 * Whether `busctl monitor` says that it has begun, and in which words, depends on its version and options. It is asked by
 * a signal that it must show.
 */
async function watchShutdowns(
  { busctl, clock }: { busctl: Busctl; clock: Clock },
  listener: ShutdownListener,
  signal: AbortSignal,
): Promise<never> {
  throwIfAborted(signal);
  let isWatching = false;
  const onOutput = (line: string) => {
    const { member, data } = readSignal(line) ?? {};
    if (member === SIGNAL && typeof data === "boolean") listener.onShutdown(data);
    if (member !== PROBE.member || isWatching) return;
    isWatching = true;
    listener.onWatching();
  };
  const monitor = talkToProgram({ path: "setpriv", args: MONITOR }, { onOutput }, clock);
  const probe = async (): Promise<void> => {
    const deadline = clock.monotonic() + BUS_TIMEOUT_MS;
    while (!isWatching) {
      if (clock.monotonic() > deadline) throw new LogindError("failed", "busctl monitor shows no signals of the bus");
      await busctl(["emit", PROBE.path, PROBE.interface, PROBE.member], signal);
      await sleep(clock, PROBE_MS, signal);
    }
  };
  signal.addEventListener("abort", monitor.kill, { once: true });
  try {
    const ended = refuseEnd("busctl monitor", monitor, signal);
    return await Promise.race([ended, probe().then(async () => await ended)]);
  } finally {
    signal.removeEventListener("abort", monitor.kill);
    monitor.kill();
  }
}

/** Returns undefined for a line that is no signal: the monitor also reports that the bus is gone. */
function readSignal(line: string): BusSignal | undefined {
  let message: { member?: unknown; payload?: { data?: unknown } } | null;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  const data = message?.payload?.data;
  return { member: message?.member, data: Array.isArray(data) ? data[0] : undefined };
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
