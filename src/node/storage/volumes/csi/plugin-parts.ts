import { createKeyedLock, type KeyedLock } from "../../../../base/keyed-lock.ts";
import { type Attachments, createAttachments } from "./attachments.ts";
import { type CsiPaths, csiPaths } from "./csi-paths.ts";
import type { CsiPluginDeps, CsiPluginOptions } from "./csi-ports.ts";
import { createDevices, type Devices } from "./devices.ts";
import { createDeviceStaging, type DeviceStaging } from "./stage-device.ts";

/** The parts of the plugin, for those of them that need most of the others. */
export interface PluginParts extends CsiPluginDeps {
  readonly options: CsiPluginOptions;
  readonly paths: CsiPaths;
  readonly devices: Devices;
  readonly lock: KeyedLock;
  readonly staging: DeviceStaging;
  readonly attachments: Attachments;
}

export function createPluginParts(deps: CsiPluginDeps, options: CsiPluginOptions): PluginParts {
  const { nodeName } = options;
  const paths = csiPaths(options.rootDirectory);
  return {
    ...deps,
    options,
    paths,
    devices: createDevices({ ...deps, paths }, { nodeName }),
    lock: createKeyedLock(),
    staging: createDeviceStaging({ ...deps, paths, nodeName }),
    attachments: createAttachments(deps.objects, options),
  };
}
