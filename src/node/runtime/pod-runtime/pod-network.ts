import { isAbort, sleep, untilAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";

/** Tells the runtime which addresses the cluster has set aside for this node's pods. */
interface PodNetwork {
  /** Takes the node object's pod ranges, primary first; an empty list where the cluster assigns none. */
  observe(podCidrs: readonly string[]): void;
  /** Tells the runtime each change until the signal fires, and repeats what fails. */
  run(signal: AbortSignal): Promise<void>;
}

interface PodNetworkDeps {
  runtime: Pick<Cri["runtime"], "updateRuntimeConfig">;
  clock: Clock;
  log: Log;
}

const CALL_TIMEOUT_MS = 10 * SECOND;
const RETRY_MS = 5 * SECOND;

/**
 * Follows `updatePodCIDR` (pkg/kubelet/kubelet_network.go). Network plugins that need the range get it from the
 * runtime.
 */
export function createPodNetwork({ runtime, clock, log }: PodNetworkDeps): PodNetwork {
  let wanted = "";
  let told = "";
  let wake: () => void = () => undefined;

  const tell = async (podCidr: string, signal: AbortSignal): Promise<void> => {
    const request = cri.UpdateRuntimeConfigRequest.fromPartial({ runtimeConfig: { networkConfig: { podCidr } } });
    try {
      await runtime.updateRuntimeConfig(request, { signal, timeoutMs: CALL_TIMEOUT_MS });
      log.info("Updating Pod CIDR", { originalPodCIDR: told, newPodCIDR: podCidr });
      told = podCidr;
    } catch (error) {
      if (isAbort(error)) throw error;
      log.error("Failed to update the pod CIDR in the runtime, will be tried again", { error: messageOf(error) });
      await sleep(clock, RETRY_MS, signal);
    }
  };

  return {
    observe(podCidrs) {
      if (podCidrs.length === 0) return;
      wanted = podCidrs.join(",");
      wake();
    },
    async run(signal) {
      while (!signal.aborted) {
        if (wanted === told) {
          const changed = new Promise<void>((resolve) => {
            wake = resolve;
          });
          await untilAborted(changed, signal);
        } else await tell(wanted, signal);
      }
    },
  };
}
