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
 * The plugin for volumes of CSI drivers: persistent volumes (file systems and block devices) and inline ones. It follows
 * pkg/volume/csi, and the parts of pkg/kubelet/volumemanager that are about devices.
 */
export interface CsiPlugin extends VolumePlugin {
  /** Resolves when the volumes that earlier node agents left are known. Until then `volumesInUse` must not be reported. */
  load(): Promise<void>;
  /** All volumes of drivers that are on this node or on their way to it, without the inline ones. */
  devices(): ReadonlyArray<{ readonly driverName: string; readonly handle: string }>;
  /** `status.volumesInUse` of the node, sorted: from before a volume is mounted until after it has been unstaged. */
  volumesInUse(): readonly string[];
  /** `status.volumesAttached` of a node that attaches volumes itself; undefined where a controller does and keeps it. */
  volumesAttached(): readonly { readonly name: string; readonly devicePath: string }[] | undefined;
  /** The listener is called when one of the two may have changed; returns how to stop that. */
  subscribe(listener: () => void): () => void;
  /**
   * Asks the driver how full a pod's volume is. Undefined where the pod does not have the volume, or where the driver cannot
   * tell.
   */
  stats(volume: Pick<VolumeRequest, "pod" | "source">, signal: AbortSignal): Promise<CsiVolumeReport | undefined>;
  /**
   * Unstages volumes that no pod uses any more, including those from before a restart, and retries what fails. It need not
   * wait for pods to be known, because the pods' directories tell which volumes they have. Returns once the signal has
   * fired and no work is under way.
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
