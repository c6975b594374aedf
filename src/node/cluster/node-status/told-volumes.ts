import type { VolumesOfNode } from "./node-status-reader.ts";
import type { ReportedVolumes } from "./reported-volumes.ts";

/** The volumes that one plugin shares with other nodes, as the node's status names them. */
interface SharedVolumes {
  /** Rejects while it is impossible to read what an earlier node agent left mounted. */
  load(): Promise<void>;
  volumesInUse(): readonly string[];
  volumesAttached(): VolumesOfNode["volumesAttached"];
}

interface ToldVolumesDeps {
  readonly volumes: readonly SharedVolumes[];
  readonly reported: Pick<ReportedVolumes, "telling">;
}

/**
 * Reads which volumes the status names. The result is undefined before it is known what an earlier node agent left
 * mounted: a volume that the status does not name may be detached.
 */
export async function readToldVolumes({ volumes, reported }: ToldVolumesDeps): Promise<VolumesOfNode | undefined> {
  try {
    await Promise.all(volumes.map(async ({ load }) => await load()));
    const volumesInUse = volumes.flatMap((plugin) => plugin.volumesInUse()).sort();
    // This runs in the same turn as the reading, so that no volume comes into use between the two.
    reported.telling(volumesInUse);
    const attached = volumes.map((plugin) => plugin.volumesAttached());
    const isKeptHere = attached.every((list) => list !== undefined);
    return { volumesInUse, volumesAttached: isKeptHere ? attached.flatMap((list) => list ?? []) : undefined };
  } catch {
    // The plugin logs why, and tries again.
    return undefined;
  }
}
