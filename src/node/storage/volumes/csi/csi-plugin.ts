import { CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { podUid } from "../../../../api/pods.ts";
import type { VolumePlugin, VolumeRequest } from "../volume-plugin.ts";
import type { CsiPluginDeps, CsiPluginOptions } from "./csi-ports.ts";
import { csiVolumeOf, isCsiSource } from "./csi-volume.ts";
import { userKey } from "./devices.ts";
import { createPluginParts } from "./plugin-parts.ts";
import { createVolumeSetUps } from "./set-up-volume.ts";
import { sweepDevices } from "./sweep-devices.ts";
import { tearDownVolume } from "./tear-down-volume.ts";
import { type CsiVolumeReport, readVolumeStats } from "./volume-stats.ts";
import { volumesAttached, volumesInUse } from "./volumes-in-use.ts";

/**
 * Volumes that CSI drivers bring: persistent ones, files and block devices, and inline ones
 * (pkg/volume/csi, and what of pkg/kubelet/volumemanager is about devices).
 */
export interface CsiPlugin extends VolumePlugin {
  /** Resolves when it is known what earlier agents left. Before that, `volumesInUse` is not to be told to anybody. */
  load(): Promise<void>;
  /** All volumes of drivers that are on this node, or on their way to it; those that are inline in pods excepted. */
  devices(): ReadonlyArray<{ readonly driverName: string; readonly handle: string }>;
  /** `status.volumesInUse` of the node, sorted: from before a volume is mounted until after it has been unstaged. */
  volumesInUse(): readonly string[];
  /** `status.volumesAttached` of a node that attaches volumes itself; undefined where a controller does and keeps it. */
  volumesAttached(): readonly { readonly name: string; readonly devicePath: string }[] | undefined;
  /** The listener is called when one of the two may have changed; returns how to stop that. */
  subscribe(listener: () => void): () => void;
  /**
   * How full a volume is that a pod has, by one call of its driver. Undefined for one that the pod has not, and where the
   * driver cannot tell.
   */
  stats(volume: Pick<VolumeRequest, "pod" | "source">, signal: AbortSignal): Promise<CsiVolumeReport | undefined>;
  /**
   * Unstages what no pod uses any more, also what is left from before a restart; retries what fails. Needs to wait for
   * no pod: a volume that a pod has is known by the pod's directory. Returns when nothing of it is left.
   */
  run(signal: AbortSignal): Promise<void>;
}

export function createCsiPlugin(deps: CsiPluginDeps, options: CsiPluginOptions): CsiPlugin {
  const parts = createPluginParts(deps, options);
  const { devices } = parts;
  const setUps = createVolumeSetUps(parts);
  const tellsHealth = options.volumeHealth === true;

  return {
    name: CSI_PLUGIN,
    supports: isCsiSource,
    async setUp(request) {
      const volume = await setUps.setUp(request);
      return { volume, finished: Promise.resolve() };
    },
    async tearDown(place, signal) {
      setUps.mounted.delete(userKey(place.podUid, place.directoryName));
      await tearDownVolume(parts, place, signal);
    },
    forget: setUps.forget,
    load: devices.load,
    devices: devices.all,
    volumesInUse: () => volumesInUse(devices.all()),
    volumesAttached: () => (options.enableControllerAttachDetach ? undefined : volumesAttached(devices.all())),
    subscribe: devices.subscribe,
    async stats({ pod, source }, signal) {
      const mounted = setUps.mounted.get(userKey(podUid(pod), csiVolumeOf(source, pod).specName));
      return mounted && (await readVolumeStats(deps, mounted, { signal, tellsHealth }));
    },
    run: async (signal) => await sweepDevices(parts, signal),
  };
}
