import type { MachineClock } from "./machine-clock.ts";

/** What a script printed, and how it ended. */
export interface ScriptEnd {
  readonly code: number;
  readonly output: string;
}

/** How a machine comes to be: see `qemu.ts` and `namespaces.ts`. */
export type MachineKind = "qemu" | "namespaces";

/** A machine of its own with Debian, systemd and this checkout's package, and the scripts of a scenario in it. */
export interface Machine {
  /** The kernel is Debian's and its cgroups are of version 2, or both are those of the machine that the tests run on. */
  readonly kind: MachineKind;
  /** False where systemd moves processes between cgroups of version 1, so that a containerd that starts anew ends its pods. */
  readonly keepsShims: boolean;
  /** The time that the machine has had for what it has to do. Limits are by this clock. */
  readonly clock: MachineClock;
  /** Runs a script of bash as root. Rejects where the machine does not answer within 20 minutes, or goes down meanwhile. */
  run(script: string): Promise<ScriptEnd>;
  /** Runs a script and returns its output. Rejects with the output where it fails. */
  read(script: string): Promise<string>;
  /** Lines that scripts wrote to descriptor 4, without their "+", from the first on. */
  readonly heard: readonly string[];
  /** Resolves when the machine, which was told to start anew, takes commands again. */
  untilStarted(): Promise<void>;
  /** Resolves when the machine has switched itself off. */
  untilOff(): Promise<void>;
  /** Switches a machine on that is off. A kernel of its own gets the words beside those that it always gets, this once. */
  switchOn(kernelWords?: readonly string[]): Promise<void>;
  /** Takes the power away, and gives it back. Nothing that is in the machine's memory alone survives. */
  cutPower(): Promise<void>;
  /**
   * Starts another machine of the same files, which `prepare` changes first, and puts a cable between the two: each has an end
   * of it as `lan0`. It is removed with this one. Rejects where only one machine can be had.
   */
  startNeighbour(prepare: (tree: string) => Promise<void>): Promise<Machine>;
  /** Switches it off and leaves nothing behind. */
  remove(): Promise<void>;
  /** Leaves it as it is, for another run. Rejects where this kind of machine cannot be kept. */
  keep(): Promise<void>;
}
