import { aborted, sleep } from "../../../src/base/abort.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { CodedError } from "../../../src/base/errors.ts";
import type { FakeCsiFaults } from "../../../src/csi/fake/create-fake-csi.ts";
import type { DriverCall } from "../../../src/csi/fake/intercept-driver.ts";
import type { GrpcErrorCode } from "../../../src/grpc/port.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import type { Trace } from "../trace.ts";

/** How likely each kind of fault is, for each call of a storage driver. */
export interface DriverFaultRates {
  /** It says no; nothing was done. */
  refused: number;
  /** It was done, and the answer is an error. */
  failedAfter: number;
  delayed: number;
  hangs: number;
  /** The mount itself takes long; it goes on whatever became of the caller, and of the driver. */
  slowMount: number;
  /** It says that it is done and has done nothing, or tells nonsense of itself and of its volumes. */
  lies: number;
}

export const NO_DRIVER_FAULTS: DriverFaultRates = {
  ...{ refused: 0, failedAfter: 0, delayed: 0 },
  ...{ hangs: 0, slowMount: 0, lies: 0 },
};

/** Breaks a storage driver's calls while a storm lasts. */
export interface DriverFaults {
  storm(rates: DriverFaultRates): void;
  readonly hooks: Required<FakeCsiFaults>;
  /** Whether the driver answers this call with a lie. */
  liesAbout(rpc: string, volumeId: string): boolean;
  /** Before a system call of the driver. */
  beforeMount(path: string): Promise<void>;
}

const SURE: readonly [GrpcErrorCode, ...GrpcErrorCode[]] = ["internal", "failed-precondition", "permission-denied"];
/** After these it is not known whether the call was done. */
const UNSURE: readonly [GrpcErrorCode, ...GrpcErrorCode[]] = ["unavailable", "deadline-exceeded", "aborted"];

export function createDriverFaults(deps: { clock: Clock; dice: Dice; faults: Faults; trace: Trace }): DriverFaults {
  const { clock, dice, faults, trace } = deps;
  let rates = NO_DRIVER_FAULTS;
  const roll = (rate: number) => rate > 0 && dice.chance(rate);
  const tell = (kind: string, what: string) => {
    faults.count(`driver ${kind}`);
    trace.note(`fault: ${what}: ${kind}`);
  };

  return {
    storm(next) {
      rates = next;
      faults.count("driver storm");
    },
    hooks: {
      async before(call) {
        if (roll(rates.refused)) {
          tell("refused", nameOf(call));
          throw failure(dice.pick([...SURE, ...UNSURE]), call);
        }
        const { signal } = call;
        const hangs = roll(rates.hangs) && signal !== undefined;
        if (!hangs && !roll(rates.delayed)) return;
        tell(hangs ? "hangs" : "delayed", nameOf(call));
        await faults.during(async () => {
          if (hangs) await aborted(signal);
          else await sleep(clock, dice.between(1, 20_000), signal);
        });
      },
      async after(call) {
        if (!roll(rates.failedAfter)) return;
        tell("failed after", nameOf(call));
        const isUndone = call.rpc === "NodeUnstageVolume" || call.rpc === "NodeUnpublishVolume";
        throw failure(isUndone ? dice.pick([...SURE, ...UNSURE]) : dice.pick(UNSURE), call);
      },
    },
    liesAbout(rpc, volumeId) {
      if (!roll(rates.lies)) return false;
      tell("lies", `${rpc} ${volumeId}`);
      return true;
    },
    async beforeMount(path) {
      if (!roll(rates.slowMount)) return;
      tell("slow mount", path);
      await faults.during(async () => await sleep(clock, dice.between(100, 180_000)));
    },
  };
}

function nameOf({ rpc, request }: DriverCall): string {
  return `${rpc} ${String(request["volumeId"] ?? "")}`;
}

/** As careless drivers do, it repeats what it was given, secrets and all. */
function failure(code: GrpcErrorCode, { request }: DriverCall): CodedError<GrpcErrorCode> {
  return new CodedError(code, `injected by the simulator, who was given ${JSON.stringify(request["secrets"] ?? {})}`);
}
