import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../cri/port.ts";
import type { CgroupDriver } from "./cgroup-name.ts";

const CALL_TIMEOUT_MS = 10_000;
/** The kubelet of this version takes no runtime any more that does not tell its cgroup driver. */
const LAST_SUPPORT = "1.37.0";

interface CgroupDriverDeps {
  readonly runtime: Pick<RuntimeService, "runtimeConfig">;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Returns a function that asks the runtime for its cgroup driver; the answer is the configured driver where the runtime
 * is too old to tell (upstream: `getCgroupDriverFromCRI`, cmd/kubelet/app/server.go). The runtime is asked until the
 * driver is known. The call rejects while the runtime is not there.
 */
export function createCgroupDriver(
  deps: CgroupDriverDeps,
  configured: CgroupDriver,
): (signal: AbortSignal) => Promise<CgroupDriver> {
  let known: CgroupDriver | undefined;
  return async (signal) => {
    known ??= (await askRuntime(deps, signal)) ?? configured;
    return known;
  };
}

async function askRuntime(
  { runtime, log, metrics }: CgroupDriverDeps,
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
    const help =
      "The Kubernetes version that no longer supports this container runtime, unless the runtime is upgraded";
    metrics.gauge("kubelet_cri_losing_support", help, ["version"]).set(1, { version: LAST_SUPPORT });
    log.debug("The runtime does not tell its cgroup driver, so the configured one is used", {}, 2);
    return undefined;
  }
}
