import { throwIfAborted, untilAborted } from "../../base/abort.ts";
import { type Logind, LogindError, type ShutdownListener } from "../logind-port.ts";

/** A logind through which a test announces shutdowns. */
export interface FakeLogind extends Logind {
  /** True means that the machine is about to go down; false calls that off. */
  announce(isShutdown: boolean): void;
  /** Sets the message with which every call fails from now on. Undefined makes it answer again. */
  fail(message: string | undefined): void;
  /** Ends the delays and watches of a process that was killed. No listener is told. */
  endProcess(): void;
  /** The bus goes away and comes back at once. Watchers are told so. */
  loseBus(): void;
  /** The delay in milliseconds; `onReload` may change it. */
  inhibitDelayMs: number;
  onReload: () => void;
  /** The number of delays that are held now. */
  readonly held: number;
}

/** The fake waits for five seconds at most, as logind does unless it is configured. By default there is no logind. */
export function createFakeLogind(): FakeLogind {
  let failure: string | undefined = "there is no systemd-logind";
  let isAnnounced = false;
  const holds = new Set<object>();
  const watchers = new Set<Watcher>();
  const ask = (signal: AbortSignal) => {
    throwIfAborted(signal);
    if (failure !== undefined) throw new LogindError("failed", failure);
  };

  const logind: FakeLogind = {
    inhibitDelayMs: 5_000,
    onReload: () => undefined,
    get held() {
      return holds.size;
    },
    announce(isShutdown) {
      isAnnounced = isShutdown;
      for (const { listener } of watchers) listener.onShutdown(isShutdown);
    },
    fail(message) {
      failure = message;
    },
    endProcess() {
      holds.clear();
      watchers.clear();
    },
    loseBus() {
      for (const { lose } of [...watchers]) lose();
    },
    async readInhibitDelayMs(signal) {
      ask(signal);
      return logind.inhibitDelayMs;
    },
    async isPreparingForShutdown(signal) {
      ask(signal);
      return isAnnounced;
    },
    async reloadConfiguration(signal) {
      ask(signal);
      logind.onReload();
    },
    async delayShutdown(_why, signal) {
      ask(signal);
      const hold = {};
      holds.add(hold);
      return {
        async release() {
          holds.delete(hold);
        },
      };
    },
    async watchShutdowns(listener, signal) {
      ask(signal);
      return await watch(watchers, listener, signal);
    },
  };
  return logind;
}

interface Watcher {
  readonly listener: ShutdownListener;
  lose(): void;
}

async function watch(watchers: Set<Watcher>, listener: ShutdownListener, signal: AbortSignal): Promise<never> {
  let watcher: Watcher | undefined;
  const lost = new Promise<never>((_resolve, reject) => {
    watcher = { listener, lose: () => reject(new LogindError("failed", "the bus is gone")) };
    watchers.add(watcher);
  });
  try {
    listener.onWatching();
    return await untilAborted(lost, signal);
  } finally {
    if (watcher !== undefined) watchers.delete(watcher);
  }
}
