import { silentLog } from "../../../../base/log.ts";
import { createManifestObjects } from "../../../cluster/refs/manifest-objects.ts";
import type { EnvFiles } from "../env-files.ts";
import type { EnvironmentRefs } from "../environment-refs.ts";
import type { ReferredObjects } from "../referred-values.ts";

/** For environments that name no object. */
export const NO_OBJECTS: ReferredObjects = { secrets: new Map(), configMaps: new Map() };

/** For environments that name no file. */
export const NO_FILES: EnvFiles = new Map();

/** What is read on a node that has neither an API server nor objects in its manifests. */
export const NO_REFS: EnvironmentRefs = {
  ...createManifestObjects({ log: silentLog, onChanged: () => undefined }),
  services: () => ({ hasSynced: true, list: () => [] }),
};
