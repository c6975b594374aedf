import type { VolumesOfNode } from "./node-status-reader.ts";
import type { ReportedVolumes } from "./reported-volumes.ts";

/** The volumes that one plugin shares with other nodes, as the node's status names them. */
export interface SharedVolumes {
  /** Rejects while it is impossible to read what an earlier node agent left mounted. */
  load(): Promise<void>;
  volumesInUse(): readonly string[];
  volumesAttached(): VolumesOfNode["volumesAttached"];
  /** The listener is called when one of the two may have changed. */
  subscribe(listener: () => void): void;
}

/** Joins the volumes of several plugins. A node keeps all of its accounts itself, or none. */
export function joinSharedVolumes(plugins: readonly SharedVolumes[]): SharedVolumes {
  return {
    async load() {
      await Promise.all(plugins.map(async ({ load }) => await load()));
    },
    volumesInUse: () => plugins.flatMap((plugin) => plugin.volumesInUse()).sort(),
    volumesAttached() {
      const attached = plugins.map((plugin) => plugin.volumesAttached());
      const isKeptHere = attached.every((list) => list !== undefined);
      return isKeptHere ? attached.flatMap((list) => list ?? []) : undefined;
    },
    subscribe(listener) {
      for (const { subscribe } of plugins) subscribe(listener);
    },
  };
}

interface ToldVolumesDeps {
  readonly volumes: Omit<SharedVolumes, "subscribe">;
  readonly reported: Pick<ReportedVolumes, "telling">;
}

/**
 * Reads which volumes the status names. The result is undefined before it is known what an earlier node agent left
 * mounted: a volume that the status does not name may be detached.
 */
export async function readToldVolumes({ volumes, reported }: ToldVolumesDeps): Promise<VolumesOfNode | undefined> {
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
