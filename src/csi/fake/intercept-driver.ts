import type { CallOptions } from "../../grpc/port.ts";
import { refusal } from "./refusal.ts";
import type { CsiDriverServices } from "./serve-csi.ts";

/** A call on its way into a driver. */
export interface DriverCall {
  /** `NodePublishVolume` */
  readonly rpc: string;
  readonly request: Readonly<Record<string, unknown>>;
  /** Fires when the caller has gone or the driver closes. */
  readonly signal: AbortSignal | undefined;
}

/** Carries a call out, or refuses it. */
export type Around = <T>(call: DriverCall, run: () => Promise<T>) => Promise<T>;

/** A driver with something around each of its calls: a journal, faults, a lock. */
export function interceptDriver(driver: CsiDriverServices, around: Around): CsiDriverServices {
  const pass =
    <Request extends object, Response>(
      rpc: string,
      run: (request: Request, options?: CallOptions) => Promise<Response>,
    ) =>
    async (request: Request, options?: CallOptions): Promise<Response> =>
      await around(
        { rpc, request: Object.fromEntries(Object.entries(request)), signal: options?.signal },
        async () => await run(request, options),
      );
  const ask = <Response>(rpc: string, run: (options?: CallOptions) => Promise<Response>) => {
    const asked = pass(rpc, async (_request: object, options) => await run(options));
    return async (options?: CallOptions) => await asked({}, options);
  };
  return {
    pluginInfo: ask("GetPluginInfo", driver.pluginInfo),
    info: ask("NodeGetInfo", driver.info),
    capabilities: ask("NodeGetCapabilities", driver.capabilities),
    stage: pass("NodeStageVolume", driver.stage),
    unstage: pass("NodeUnstageVolume", driver.unstage),
    publish: pass("NodePublishVolume", driver.publish),
    unpublish: pass("NodeUnpublishVolume", driver.unpublish),
    expand: pass("NodeExpandVolume", driver.expand),
    stats: pass("NodeGetVolumeStats", driver.stats),
  };
}

/**
 * Refuses a second operation on a volume with `aborted` while one is in progress, as the specification has drivers do.
 * Reading its statistics is no operation.
 */
export function createVolumeLocks(): Around {
  const busy = new Set<unknown>();
  return async ({ rpc, request }, run) => {
    const volumeId = request["volumeId"];
    if (volumeId === undefined || rpc === "NodeGetVolumeStats") return await run();
    if (busy.has(volumeId)) {
      throw refusal("aborted", `an operation with the given Volume ID ${String(volumeId)} already exists`);
    }
    busy.add(volumeId);
    try {
      return await run();
    } finally {
      busy.delete(volumeId);
    }
  };
}
