import type { Log } from "../../../base/log.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../cri/port.ts";
import type { CgroupDriver } from "./cgroup-name.ts";

const CALL_TIMEOUT_MS = 10_000;

/**
 * Returns a function that asks the runtime for its cgroup driver; the answer is the configured driver where the runtime
 * is too old to tell (upstream: `getCgroupDriverFromCRI`, cmd/kubelet/app/server.go). The runtime is asked until the
 * driver is known. The call rejects while the runtime is not there.
 */
export function createCgroupDriver(
  { runtime, log }: { runtime: Pick<RuntimeService, "runtimeConfig">; log: Log },
  configured: CgroupDriver,
): (signal: AbortSignal) => Promise<CgroupDriver> {
  let known: CgroupDriver | undefined;
  return async (signal) => {
    known ??= (await askRuntime(runtime, log, signal)) ?? configured;
    return known;
  };
}

async function askRuntime(
  runtime: Pick<RuntimeService, "runtimeConfig">,
  log: Log,
  signal: AbortSignal,
): Promise<CgroupDriver | undefined> {
  const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
  try {
    const { linux } = await runtime.runtimeConfig(cri.RuntimeConfigRequest.fromPartial({}), call);
    if (linux === undefined) return undefined;
    const driver = linux.cgroupDriver === cri.CgroupDriver.SYSTEMD ? "systemd" : "cgroupfs";
    log.debug("Using cgroup driver setting received from the CRI runtime", { cgroupDriver: driver }, 2);
    return driver;
  } catch (error) {
    if (!isCriError(error, "unimplemented")) throw error;
    log.debug("The runtime does not tell its cgroup driver, so the configured one is used", {}, 2);
    return undefined;
  }
}
