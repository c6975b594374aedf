import { isApiError } from "../../../api/api-error.ts";
import { RESOURCE_SLICES } from "../../../api/kube-resource.ts";
import { sleep, throwIfAborted } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { KubeClient } from "../../../kube/port.ts";

/** Upstream's, without its jitter: one node is one client. */
const BACK_OFF = { initialMs: SECOND, maxMs: 5 * MINUTE };
const REQUEST_TIMEOUT_MS = 30 * SECOND;

interface WipeSlicesDeps {
  readonly client: Pick<KubeClient, "list" | "delete">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Deletes the ResourceSlices of this node, of one driver or of all, and tries again until it can. Upstream deletes them in
 * one call; here each goes by its UID, so that a slice that the driver has made anew stays.
 */
export function createSliceWipe({ client, clock, log }: WipeSlicesDeps, nodeName: string) {
  const wipe = async (fieldSelector: string, signal: AbortSignal): Promise<void> => {
    const call = { signal, timeoutMs: REQUEST_TIMEOUT_MS };
    const { items } = await client.list(RESOURCE_SLICES, { fieldSelector, ...call });
    for (const { metadata, spec } of items) {
      // A server that does not know the selector must not cost other nodes their slices.
      if (spec.nodeName !== nodeName) continue;
      const place = { namespace: "", name: metadata?.name ?? "" };
      try {
        await client.delete(RESOURCE_SLICES, place, { uid: metadata?.uid, ...call });
      } catch (error) {
        if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
      }
    }
  };

  return async (driver: string | undefined, signal: AbortSignal): Promise<void> => {
    const fieldSelector = [
      `spec.nodeName=${nodeName}`,
      ...(driver === undefined ? [] : [`spec.driver=${driver}`]),
    ].join();
    for (let failures = 1; ; failures++) {
      try {
        await wipe(fieldSelector, signal);
        return;
      } catch (error) {
        throwIfAborted(signal);
        // The API server does not serve them, so that no driver can have any.
        if (isApiError(error, "NotFound")) return;
        log.debug("Cannot delete slices, will retry", { fieldSelector, error: messageOf(error) });
      }
      await sleep(clock, computeBackOff(failures, BACK_OFF), signal);
    }
  };
}
