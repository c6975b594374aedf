import { createLimiter } from "../../../base/limiter.ts";
import type { Programs } from "../../programs-port.ts";
import { type Systemd, SystemdError, type UnitProperty } from "../../systemd-port.ts";
import { describeBusFailure, parseBusProperty, runBusctl } from "./busctl.ts";

const SERVICE = "org.freedesktop.systemd1";
const OBJECT = "/org/freedesktop/systemd1";
const INTERFACE = `${SERVICE}.Manager`;
const UNIT = `${SERVICE}.Unit`;
/** A job that conflicts with the new one is replaced. */
const MODE = "replace";
/** The number of processes at once. systemd does one thing after the other anyway. */
const MAX_CALLS = 4;

/** The service manager of this machine, spoken to through `busctl`. */
export function createBusctlSystemd(programs: Pick<Programs, "run">): Systemd {
  const limiter = createLimiter(MAX_CALLS);
  const run = async (args: readonly string[]) => await limiter.run(async () => await callBus(programs, args));
  const ask = async (...args: readonly string[]) => {
    await run(["call", SERVICE, OBJECT, INTERFACE, ...args]);
  };
  const readProperty = async (object: string, interfaceName: string, name: string) =>
    parseBusProperty(await run(["get-property", SERVICE, object, interfaceName, name]));
  return {
    readVersion: async () => parseVersion(await readProperty(OBJECT, INTERFACE, "Version")),
    async isActive(unit) {
      const state = await readProperty(`${OBJECT}/unit/${escapeUnit(unit)}`, UNIT, "ActiveState");
      return state === "active" || state === "activating" || state === "reloading";
    },
    startTransientUnit: async (unit, properties) =>
      await ask("StartTransientUnit", "ssa(sv)a(sa(sv))", unit, MODE, ...listProperties(properties), "0"),
    startUnit: async (unit) => await ask("StartUnit", "ss", unit, MODE),
    setUnitProperties: async (unit, properties) =>
      await ask("SetUnitProperties", "sba(sv)", unit, "true", ...listProperties(properties)),
    stopUnit: async (unit) => await ask("StopUnit", "ss", unit, MODE),
    resetFailedUnit: async (unit) => await ask("ResetFailedUnit", "s", unit),
  };
}

async function callBus(programs: Pick<Programs, "run">, args: readonly string[]): Promise<string> {
  const outcome = await runBusctl(programs, args);
  if (outcome.kind === "printed") return outcome.stdout.toString("utf8");
  throw new SystemdError(outcome.kind === "missing" ? "missing" : "failed", describeBusFailure(outcome));
}

function listProperties(properties: readonly UnitProperty[]): string[] {
  const each = properties.flatMap(({ name, signature, value }) => {
    const values = Array.isArray(value) ? [String(value.length), ...value] : [String(value)];
    return [name, signature, ...values];
  });
  return [String(properties.length), ...each];
}

/** Distributions write the version as `252.38-1~deb12u1` or `v245.4-1.fc32`. */
function parseVersion(version: unknown): number {
  const [, digits] = /^v?(\d+)/.exec(String(version)) ?? [];
  if (digits === undefined) throw new SystemdError("failed", `systemd tells no version: ${String(version)}`);
  return Number(digits);
}

/** systemd writes a unit's name in the path of its object like this: all but letters and digits as `_2e`. */
function escapeUnit(unit: string): string {
  return unit.replaceAll(/^\d|[^A-Za-z0-9]/g, (letter) => `_${letter.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
