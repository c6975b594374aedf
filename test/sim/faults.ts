import { aborted, sleep } from "../../src/base/abort.ts";
import type { Clock } from "../../src/base/clock.ts";
import { CodedError } from "../../src/base/errors.ts";
import type { FakeCall, FakeFaults } from "../../src/cri/fake/fake-faults.ts";
import type { CriErrorCode } from "../../src/cri/port.ts";
import { fileError } from "../../src/host/file-error.ts";
import type { Dice } from "./dice.ts";
import type { Trace } from "./trace.ts";

/** How likely each kind of fault is, for each call or event. */
export interface FaultRates {
  rpcError: number;
  rpcDelay: number;
  rpcHang: number;
  fileError: number;
  eventLost: number;
  eventDoubled: number;
  eventLate: number;
}

export const NO_FAULTS: FaultRates = {
  rpcError: 0,
  rpcDelay: 0,
  rpcHang: 0,
  fileError: 0,
  eventLost: 0,
  eventDoubled: 0,
  eventLate: 0,
};

/** Breaks calls at random while a storm lasts, and remembers when it last did. */
export interface Faults {
  storm(rates: FaultRates): void;
  readonly hooks: FakeFaults;
  /** The error that an access to a file fails with; undefined for none. */
  fileFault(operation: string, path: string): Error | undefined;
  /** The error that a change of a cgroup fails with; undefined for none. */
  cgroupFault(operation: string, path: string): Error | undefined;
  /** How long the mount takes, milliseconds: as one of another machine, which answers when it likes. */
  mountDelay(operation: string, path: string): number;
  /** How late the event comes, milliseconds. */
  eventDelay(): number;
  /** Counts something that was done to the node agent, and ends the calm. */
  count(kind: string): void;
  /** There is no calm while the work goes on, as with a call that hangs. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Something that lasts is broken until it is mended. */
  begin(kind: string): void;
  mend(kind: string): void;
  /** Since when nothing was broken and nothing hangs; Infinity while something does. */
  calmSince(): number;
  readonly counts: ReadonlyMap<string, number>;
}

const CODES: readonly [CriErrorCode, ...CriErrorCode[]] = ["unknown", "unavailable", "deadline-exceeded", "internal"];
const MESSAGE = "injected by the simulator";

interface FaultsDeps {
  clock: Clock;
  dice: Dice;
  /** Separate dice, so that older seeds find what they found before there were cgroups. */
  cgroupDice: Dice;
  trace: Trace;
}

export function createFaults({ clock, dice, cgroupDice, trace }: FaultsDeps): Faults {
  const counts = new Map<string, number>();
  let rates = NO_FAULTS;
  const lasting = new Set<string>();
  let hanging = 0;
  let lastAt = 0;

  const count = (kind: string) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    lastAt = clock.monotonic();
  };

  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    hanging++;
    try {
      return await work();
    } finally {
      hanging--;
      lastAt = clock.monotonic();
    }
  };

  const disturb = async (call: FakeCall, phase: "before" | "after"): Promise<void> => {
    const roll = (rate: number) => rate > 0 && dice.chance(rate / 2);
    const tell = (kind: string) => {
      count(`rpc ${kind} ${phase}`);
      trace.note(`fault: ${call.rpc} ${kind} ${phase} its effect`);
    };
    if (roll(rates.rpcError)) {
      tell("error");
      throw new CodedError(dice.pick(CODES), MESSAGE);
    }
    if (roll(rates.rpcDelay) || roll(rates.rpcHang)) {
      const hangs = rates.rpcHang > 0 && dice.chance(rates.rpcHang / (rates.rpcHang + rates.rpcDelay));
      tell(hangs ? "hang" : "delay");
      await during(async () => {
        if (hangs) await aborted(call.signal);
        else await sleep(clock, dice.between(1, 4_000), call.signal);
      });
    }
  };

  return {
    storm(next) {
      rates = next;
      lastAt = clock.monotonic();
    },
    hooks: {
      before: async (call) => await disturb(call, "before"),
      after: async (call) => await disturb(call, "after"),
      copiesOf() {
        if (rates.eventLost > 0 && dice.chance(rates.eventLost)) {
          count("event lost");
          return 0;
        }
        if (rates.eventDoubled === 0 || !dice.chance(rates.eventDoubled)) return 1;
        count("event doubled");
        return 2;
      },
    },
    fileFault(operation, path) {
      if (rates.fileError === 0 || !dice.chance(rates.fileError)) return undefined;
      count("file error");
      trace.note(`fault: ${operation} ${path} fails`);
      return fileError(dice.pick(["EACCES", "ENOSPC"]), `${operation} ${MESSAGE}`, path);
    },
    cgroupFault(operation, path) {
      if (!cgroupDice.chance(rates.fileError)) return undefined;
      count("cgroup error");
      trace.note(`fault: ${operation} cgroup ${path} fails`);
      return fileError(operation === "remove" ? "EBUSY" : "ENOSPC", `${operation} ${MESSAGE}`, path);
    },
    mountDelay(operation, path) {
      if (rates.rpcHang === 0 || !dice.chance(rates.rpcHang * 2)) return 0;
      count("mount late");
      trace.note(`fault: ${operation} ${path} takes long`);
      return dice.between(100, 60_000);
    },
    eventDelay() {
      if (rates.eventLate === 0 || !dice.chance(rates.eventLate)) return 0;
      count("event late");
      return dice.between(10, 5_000);
    },
    count,
    during,
    begin(kind) {
      count(kind);
      lasting.add(kind);
    },
    mend(kind) {
      lasting.delete(kind);
      lastAt = clock.monotonic();
    },
    calmSince: () => (hanging > 0 || lasting.size > 0 ? Number.POSITIVE_INFINITY : lastAt),
    counts,
  };
}

export function isInjected(error: unknown): boolean {
  return error instanceof Error && error.message.includes(MESSAGE);
}
