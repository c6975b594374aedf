import { CRI_NAMESPACE } from "../containerd/image-importer.ts";
import { runCommand } from "../processes/run-command.ts";
import { type ImportProgress, importArchiveFile } from "./import-archive.ts";
import type { OpenArchive } from "./read-archive.ts";

/** Archives of users may be large, and their disks slow. */
const LOAD_TIMEOUT_MS = 30 * 60_000;
const LIST_TIMEOUT_MS = 120_000;

/** Reads archives of users, and tells what there was in them. */
export interface ArchiveImporter {
  /**
   * Reads the images of an archive into the CRI image store, unpacked. Resolves with what `ctr` printed; rejects as
   * `importArchiveFile` does.
   */
  importArchive(archive: OpenArchive, onProgress: (progress: ImportProgress) => void): Promise<string>;
  /** The digests of the named images that there are, by name. */
  listNamed(): Promise<ReadonlyMap<string, string>>;
}

/** Creates an importer that uses `ctr`, because CRI itself has no import. */
export function createArchiveImporter({ program, socket }: { program: string; socket: string }): ArchiveImporter {
  const words = ["--address", socket, "--namespace", CRI_NAMESPACE, "images"];
  return {
    async importArchive(archive, onProgress) {
      const reader = { program, args: [...words, "import", "-"], timeoutMs: LOAD_TIMEOUT_MS };
      return await importArchiveFile(reader, archive, onProgress);
    },
    async listNamed() {
      const [, ...lines] = (await runCommand(program, [...words, "list"], { timeoutMs: LIST_TIMEOUT_MS })).split("\n");
      const rows = lines.map((line) => line.split(/\s+/));
      // The CRI service gives each image a second name, which is its id.
      const named = rows.filter(([name = ""]) => name !== "" && !name.startsWith("sha256:"));
      return new Map(named.map(([name = "", _type, digest = ""]) => [name, digest]));
    },
  };
}
