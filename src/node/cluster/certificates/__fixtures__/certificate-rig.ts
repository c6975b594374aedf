import type { Log } from "../../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";

/** Keys are made on separate threads, which no fake clock controls. This many turns of the event loop are ample. */
const MAX_TURNS = 100_000;

/** Runs everything that needs no clock time, until the condition holds. */
export async function until(host: FakeHost, isReached: () => boolean, what = "the condition"): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    await host.clock.settle();
    if (isReached()) return;
  }
  throw new Error(`${what} was never reached`);
}

/** Settles as the promise does, and meanwhile runs everything that needs no clock time. */
export async function settled<T>(host: FakeHost, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  await until(host, () => isOver, "the end");
  return over;
}

/** Creates a host, with everything that is logged on it and every private key that was ever in one of its files. */
export function createRigHost() {
  const host = createFakeHost();
  const logged: string[] = [];
  const secrets = new Set<string>();
  const note = (message: string, fields: object = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { error: note, warn: note, info: note, debug: note, with: () => log };
  host.files.intercept(({ operation, path, phase }) => {
    if (operation !== "writeAtomically" || phase !== "after") return;
    const [, body = ""] = /PRIVATE KEY-----\n([^-]+)/.exec(host.files.text(path) ?? "") ?? [];
    for (const line of body.split("\n")) if (line.length > 16) secrets.add(line);
  });
  return {
    host,
    log,
    logged,
    /**
     * Returns the lines of keys that the texts contain. It throws where no key was ever written, because then it proves
     * nothing.
     */
    leaks(...texts: readonly string[]) {
      if (secrets.size === 0) throw new Error("no key was ever written");
      const all = [...logged, ...texts].join("\n");
      return [...secrets].filter((secret) => all.includes(secret));
    },
  };
}
