import type { VolumesOfNode } from "./node-status-reader.ts";
import type { ReportedVolumes } from "./reported-volumes.ts";

/** The volumes of storage drivers, as the node's status names them. */
interface DriverVolumes {
  /** Rejects while it is impossible to read what an earlier node agent left mounted. */
  load(): Promise<void>;
  volumesInUse(): readonly string[];
  volumesAttached(): VolumesOfNode["volumesAttached"];
}

interface ToldVolumesDeps {
  /** The volumes are undefined on a node without an API server. */
  readonly volumes: DriverVolumes | undefined;
  readonly reported: Pick<ReportedVolumes, "telling">;
}

/**
 * Reads which volumes the status names. The result is undefined before it is known what an earlier node agent left
 * mounted: a volume that the status does not name may be detached.
 */
export async function readToldVolumes({ volumes, reported }: ToldVolumesDeps): Promise<VolumesOfNode | undefined> {
  if (volumes === undefined) return undefined;
  try {
    await volumes.load();
    const volumesInUse = volumes.volumesInUse();
    // This runs in the same turn as the reading, so that no volume comes into use between the two.
    reported.telling(volumesInUse);
    return { volumesInUse, volumesAttached: volumes.volumesAttached() };
  } catch {
    // The plugin logs why, and tries again.
    return undefined;
  }
}
