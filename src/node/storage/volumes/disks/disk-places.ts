import type { Files } from "../../../../host/port.ts";
import type { DiskKind, DiskPlace } from "./named-disk.ts";
import { listIfThere } from "./scsi-devices.ts";

/** The places of one plugin's disks: upstream's directories of what is mounted or mapped once for all pods. */
interface DiskPlaces {
  of(placeName: string, kind: DiskPlace["kind"]): DiskPlace;
  /** All places that there are on the disk. */
  find(): Promise<readonly DiskPlace[]>;
}

/** Block devices have directories of their own, beside those of the file systems. */
const BLOCKS = "volumeDevices";

export function createDiskPlaces(
  files: Pick<Files, "list">,
  { pluginName, placeDepth }: Pick<DiskKind, "pluginName" | "placeDepth">,
  { rootDirectory }: { readonly rootDirectory: string },
): DiskPlaces {
  const root = `${rootDirectory}/plugins/${pluginName}`;
  const rootOf = (kind: DiskPlace["kind"]) => (kind === "files" ? root : `${root}/${BLOCKS}`);
  const of = (placeName: string, kind: DiskPlace["kind"]): DiskPlace => ({
    placeName,
    kind,
    path: `${rootOf(kind)}/${placeName}`,
  });

  const namesIn = async (directory: string, depth: number): Promise<string[]> => {
    const entries = (await listIfThere(files, directory)).filter(({ type }) => type === "directory");
    const names: string[] = [];
    for (const { name } of entries) {
      if (directory === root && name === BLOCKS) continue;
      if (depth === 1) names.push(name);
      else for (const below of await namesIn(`${directory}/${name}`, depth - 1)) names.push(`${name}/${below}`);
    }
    return names;
  };

  return {
    of,
    async find() {
      const places: DiskPlace[] = [];
      for (const kind of ["files", "block"] as const) {
        for (const name of await namesIn(rootOf(kind), placeDepth)) places.push(of(name, kind));
      }
      return places;
    },
  };
}
