import { runCommand } from "../processes/run-command.ts";

/** The containerd namespace that its CRI service keeps its images and containers in. */
const CRI_NAMESPACE = "k8s.io";
const IMPORT_TIMEOUT_MS = 120_000;
/** Archives of users may be large, and their disks slow. */
const LOAD_TIMEOUT_MS = 30 * 60_000;

export interface ImageImporter {
  /** Reads the images of a tar file (OCI layout or docker-archive) into the CRI image store, unpacked. */
  importImage(tarPath: string): Promise<void>;
  /** The references that the CRI image store holds. */
  listImages(): Promise<string[]>;
}

/** Creates an importer that uses `ctr`, because CRI itself has no import. */
export function createImageImporter(ctr: { program: string; socket: string }): ImageImporter {
  const run = async (...args: string[]) =>
    await runCommand(ctr.program, ["--address", ctr.socket, "--namespace", CRI_NAMESPACE, "images", ...args], {
      timeoutMs: IMPORT_TIMEOUT_MS,
    });
  return {
    async importImage(tarPath) {
      await run("import", tarPath);
    },
    async listImages() {
      return (await run("list", "--quiet")).split("\n").filter((line) => line !== "");
    },
  };
}

/** Reads archives of users, and tells what there was in them. */
export interface ArchiveImporter {
  /** Does as `importImage`. Resolves with what `ctr` printed; rejects with a CodedError. */
  importArchive(path: string): Promise<string>;
  /** The digests of the named images that there are, by name. */
  listNamed(): Promise<ReadonlyMap<string, string>>;
}

/** Creates an importer for archives of users. */
export function createArchiveImporter(ctr: { program: string; socket: string }): ArchiveImporter {
  const run = async (timeoutMs: number, ...args: string[]) => {
    const all = ["--address", ctr.socket, "--namespace", CRI_NAMESPACE, "images", ...args];
    return await runCommand(ctr.program, all, { timeoutMs });
  };
  return {
    importArchive: async (path) => await run(LOAD_TIMEOUT_MS, "import", path),
    async listNamed() {
      const [, ...lines] = (await run(IMPORT_TIMEOUT_MS, "list")).split("\n");
      const rows = lines.map((line) => line.split(/\s+/));
      // The CRI service gives each image a second name, which is its id.
      const named = rows.filter(([name = ""]) => name !== "" && !name.startsWith("sha256:"));
      return new Map(named.map(([name = "", _type, digest = ""]) => [name, digest]));
    },
  };
}
