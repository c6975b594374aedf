// It has another name here, because the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";
import { CodedError, messageOf } from "../../../base/errors.ts";

/** What a service tells the systemd that started it (sd_notify(3)). All of it does nothing for other processes. */
interface ServiceNotifier {
  /** The service has started. From now on systemd hears regularly that the event loop turns, if it wants to. */
  ready(): void;
  /** The service ends by itself or was asked to. */
  stopping(): void;
}

const SERVICE_ENVIRONMENT = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];

const LIBRARY = "libsystemd.so.0";
const USEC_PER_MS = 1_000;
/** Half of the time after which systemd takes the process for hung, as sd_watchdog_enabled(3) advises. */
const WATCHDOG_SHARE = 2;

/**
 * Returns the environment without what is of a service: its children would speak for it, as containerd and systemctl do
 * to whoever is named there, and systemd complains of each.
 */
export function withoutService(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !SERVICE_ENVIRONMENT.includes(name)));
}

/**
 * Reads from the environment whether systemd waits for this process. Throws `no-libsystemd` where it does and cannot be
 * told, because it would end the process after a while without a word.
 */
export function createServiceNotifier(environment: Readonly<Record<string, string | undefined>>): ServiceNotifier {
  if (environment["NOTIFY_SOCKET"] === undefined) return { ready: () => undefined, stopping: () => undefined };
  const notify = loadNotify();
  const watchdogMs = Number(environment["WATCHDOG_USEC"] ?? 0) / USEC_PER_MS;
  return {
    ready() {
      notify("READY=1");
      if (watchdogMs > 0) setInterval(() => notify("WATCHDOG=1"), watchdogMs / WATCHDOG_SHARE).unref();
    },
    stopping: () => notify("STOPPING=1"),
  };
}

function loadNotify(): (state: string) => void {
  try {
    const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
    const call = koffi.load(LIBRARY).func("int sd_notify(int unset_environment, const char *state)");
    return (state) => call(0, state);
  } catch (error) {
    const message = `systemd waits for a word of this service, and ${LIBRARY} cannot be used: ${messageOf(error)}`;
    throw new CodedError("no-libsystemd", `${message}. Install libsystemd0, or set Type=exec and no WatchdogSec.`, {
      cause: error,
    });
  }
}
