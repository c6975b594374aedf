import type { FakeHost } from "../../../../../host/fake/create-fake-host.ts";

/** A process that dies at one of its steps. */
interface DyingProcess {
  /** Whether it came so far. */
  readonly isDead: boolean;
  /** The next process starts: from here on everything works again. */
  restart(): void;
}

/** The access number `step` of files and mounts is the last that has an effect; it, and all later ones, fail. */
export function dieAfter({ files, mounts }: FakeHost, step: number): DyingProcess {
  let steps = 0;
  const count = ({ phase }: { phase: "before" | "after" }) => {
    if (phase === "before" && steps >= step) throw new Error("the process is dead");
    if (phase === "after" && ++steps === step) throw new Error("the process died");
  };
  const restarts = [files.intercept(count), mounts.intercept(count)];
  return {
    get isDead() {
      return steps >= step;
    },
    restart() {
      for (const restart of restarts) restart();
    },
  };
}
