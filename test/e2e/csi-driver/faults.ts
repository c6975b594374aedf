import { setTimeout as delay } from "node:timers/promises";
import type { Around, DriverCall } from "../../../src/csi/fake/intercept-driver.ts";
import { refusal } from "../../../src/csi/fake/refusal.ts";
import type { Control, Fault } from "./control.ts";
import type { State } from "./state.ts";

/** Does to calls what the control file says. */
export function createFaults({ control, state }: { control(): Control; state: State }): Around {
  return async (call, run) => {
    const fault = takeFault(control(), state, call);
    if (fault === undefined) return await run();
    if (fault.when !== "after") await strike(fault, call, control);
    const response = await run();
    if (fault.when === "after") await strike(fault, call, control);
    return response;
  };
}

/** The fault that hits this call, counted. */
function takeFault({ faults }: Control, state: State, { rpc, request }: DriverCall): Fault | undefined {
  const fault = faults[rpc];
  if (fault === undefined) return undefined;
  if (fault.volumeId !== undefined && fault.volumeId !== request["volumeId"]) return undefined;
  const uses = state.faultUses.get(fault.id ?? rpc) ?? 0;
  if (fault.times !== undefined && uses >= fault.times) return undefined;
  state.faultUses.set(fault.id ?? rpc, uses + 1);
  state.save();
  return fault;
}

const HANG_CHECK_MS = 50;

async function strike(fault: Fault, { rpc }: DriverCall, control: () => Control): Promise<void> {
  if (fault.delayMs !== undefined) await delay(fault.delayMs);
  if (fault.action === "crash") {
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  }
  while (fault.action === "hang" && control().faults[rpc]?.id === fault.id) await delay(HANG_CHECK_MS);
  if (fault.action === "fail") throw refusal(fault.code ?? "internal", fault.detail ?? "injected");
}
