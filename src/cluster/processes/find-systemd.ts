import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createBusctlSystemd } from "../../host/linux/system/busctl-systemd.ts";
import { linuxPrograms } from "../../host/linux/system/linux-programs.ts";
import type { Systemd } from "../../host/systemd-port.ts";

/** Tells by systemd's own sign whether it runs this machine (sd_booted(3)). */
export function isSystemdBooted(): boolean {
  return existsSync("/run/systemd/system");
}

/** systemd where it runs this machine and answers. */
interface FoundSystemd {
  readonly systemd: Systemd;
  /** The release: 252. */
  readonly version: number;
}

/**
 * Finds systemd, which owns the cgroups of a machine that it runs. The result is undefined on a machine without it, and,
 * with a warning, where it does not answer: processes and pods then live in the cgroup of whoever started them.
 */
export async function findSystemd(log: Log): Promise<FoundSystemd | undefined> {
  if (!isSystemdBooted()) return undefined;
  const systemd = createBusctlSystemd(linuxPrograms);
  try {
    return { systemd, version: await systemd.readVersion() };
  } catch (error) {
    log.warn("systemd runs this machine and does not answer: pods may end with the session or unit that started them", {
      error: messageOf(error),
    });
    return undefined;
  }
}
