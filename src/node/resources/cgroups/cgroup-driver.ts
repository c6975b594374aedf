import { isRecord } from "../../../api/object.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { readContainerdSettings } from "../../../cri/containerd-settings.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../cri/port.ts";
import type { CgroupDriver } from "./cgroup-name.ts";

const CALL_TIMEOUT_MS = 10_000;
/** The kubelet of this version takes no runtime any more that does not tell its cgroup driver. */
const LAST_SUPPORT = "1.37.0";

interface CgroupDriverDeps {
  readonly runtime: Pick<RuntimeService, "runtimeConfig" | "status">;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Returns a function that asks the runtime for its cgroup driver (upstream: `getCgroupDriverFromCRI`,
 * cmd/kubelet/app/server.go). A containerd that is too old to tell has it among its settings: with another driver than its
 * own no pod would start, or each would run beside the cgroup that is to limit it. Where there are none, the answer is the
 * configured driver. The runtime is asked until the driver is known. The call rejects while the runtime is not there.
 */
export function createCgroupDriver(
  deps: CgroupDriverDeps,
  configured: CgroupDriver,
): (signal: AbortSignal) => Promise<CgroupDriver> {
  let known: CgroupDriver | undefined;
  return async (signal) => {
    known ??= (await askRuntime(deps, signal)) ?? (await readSettings(deps, configured, signal)) ?? configured;
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
    log.debug("The runtime is not to be asked for its cgroup driver", {}, 2);
    return undefined;
  }
}

async function readSettings(
  { runtime, log }: CgroupDriverDeps,
  configured: CgroupDriver,
  signal: AbortSignal,
): Promise<CgroupDriver | undefined> {
  const driver = findDriver(await readContainerdSettings(runtime, { signal, timeoutMs: CALL_TIMEOUT_MS }));
  if (driver !== undefined && driver !== configured) {
    const change = `set cgroupDriver: ${driver}, or SystemdCgroup = ${configured === "systemd"} in containerd`;
    log.warn(`containerd's cgroup driver is used instead of the configured one: ${change}`, { driver, configured });
  }
  return driver;
}

/** The driver of the handler that is used where a pod names none. */
function findDriver(settings: Record<string, unknown> | undefined): CgroupDriver | undefined {
  const containerd = readRecord(settings, "containerd");
  const name = containerd["defaultRuntimeName"];
  if (typeof name !== "string") return undefined;
  const handler = readRecord(readRecord(containerd, "runtimes"), name);
  // Another kind of handler, such as a virtual machine, has other settings.
  if (handler["runtimeType"] !== "io.containerd.runc.v2") return undefined;
  return readRecord(handler, "options")["SystemdCgroup"] === true ? "systemd" : "cgroupfs";
}

function readRecord(owner: Record<string, unknown> | undefined, name: string): Record<string, unknown> {
  const value = owner?.[name];
  return isRecord(value) ? value : {};
}
