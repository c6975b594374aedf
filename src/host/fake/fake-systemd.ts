import { type Systemd, SystemdError, type UnitProperty } from "../systemd-port.ts";

/** A service manager in memory. */
export interface FakeSystemd extends Systemd {
  /** The calls in their order: `StartTransientUnit kubepods.slice`. */
  readonly calls: readonly string[];
  /** The properties of the units that run. */
  readonly units: ReadonlyMap<string, ReadonlyMap<string, UnitProperty["value"]>>;
  version: number;
  /** It is called before each call. The call fails with the error that it returns. */
  fault: ((call: string) => Error | undefined) | undefined;
  /** It is called when a unit has begun to run, whose cgroup is then made. */
  onStart: (unit: string) => void;
}

/** By default there is no systemd. */
export function createFakeSystemd(): FakeSystemd {
  const calls: string[] = [];
  const units = new Map<string, Map<string, UnitProperty["value"]>>();
  const ask = (call: string) => {
    calls.push(call);
    const fault = systemd.fault?.(call);
    if (fault !== undefined) throw fault;
  };
  const merge = (unit: string, properties: readonly UnitProperty[]) => {
    const merged = units.get(unit) ?? new Map<string, UnitProperty["value"]>();
    for (const { name, value } of properties) merged.set(name, value);
    units.set(unit, merged);
  };
  const systemd: FakeSystemd = {
    calls,
    units,
    version: 252,
    fault: () => new SystemdError("missing", "there is no systemd"),
    onStart: () => undefined,
    async readVersion() {
      ask("Version");
      return systemd.version;
    },
    async isActive(unit) {
      ask(`ActiveState ${unit}`);
      return units.has(unit);
    },
    async startTransientUnit(unit, properties) {
      ask(`StartTransientUnit ${unit}`);
      if (units.has(unit)) throw new SystemdError("failed", `Unit ${unit} was already loaded or has a fragment file.`);
      merge(unit, properties);
      systemd.onStart(unit);
    },
    async startUnit(unit) {
      ask(`StartUnit ${unit}`);
      merge(unit, []);
      systemd.onStart(unit);
    },
    async setUnitProperties(unit, properties) {
      ask(`SetUnitProperties ${unit}`);
      merge(unit, properties);
    },
    async stopUnit(unit) {
      ask(`StopUnit ${unit}`);
      units.delete(unit);
    },
    async resetFailedUnit(unit) {
      ask(`ResetFailedUnit ${unit}`);
    },
  };
  return systemd;
}
