import { setTimeout as delay } from "node:timers/promises";
import type { Machine, MachineKind } from "../machines/machine.ts";

/** Nothing here is timed: an emulated machine is slow, and whatever comes at all comes within this, by the machine's clock. */
const PATIENCE_MS = 1_200_000;
const LOOK_AGAIN_MS = 1_000;
/** A look costs the machine what it could have used to get on: it has twice as long until the next. */
const REST_PER_LOOK = 2;

/** A test by name. Scenarios run one after the other on one machine, and leave it as they found it. */
export interface Scenario {
  readonly name: string;
  /** What must be true of a real machine, in a sentence. */
  readonly promise: string;
  /** The only kind of machine that can show it. Default: each. */
  readonly needs?: MachineKind;
  /** What is not at hand, where it cannot run for want of it. */
  readonly lacks?: string | undefined;
  /** A path on the machine without which it is skipped: not every release has it. */
  readonly wants?: string;
  /** The machine is started, and `nodelet up` runs on it as a service. */
  run(at: Stage): Promise<void>;
}

/** What a scenario acts on. */
export interface Stage {
  readonly machine: Machine;
  /** Writes a line of what is seen into the report. */
  note(text: string): void;
}

/** Runs the script until its output is right, and returns that. Rejects with the last output when patience ends. */
export async function until({ machine }: Stage, script: string, isRight: (output: string) => boolean): Promise<string> {
  const end = machine.clock() + PATIENCE_MS;
  for (;;) {
    const begun = machine.clock();
    const { code, output } = await machine.run(script);
    if (code === 0 && isRight(output)) return output.trimEnd();
    const tookMs = machine.clock() - begun;
    if (machine.clock() > end) throw new Error(`not what was waited for, exit code ${code} of: ${script}\n${output}`);
    await delay(Math.max(LOOK_AGAIN_MS, REST_PER_LOOK * tookMs));
  }
}

/** Fails the scenario with the message where something is not true. */
export function expectTrue(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message);
}

/** Fails the scenario where the two differ. */
export function expectSame(found: string, wanted: string, what: string): void {
  expectTrue(found === wanted, `${what} is "${found}", not "${wanted}"`);
}
