import { runCommand } from "../processes/run-command.ts";

/** The containerd namespace that its CRI service keeps its images and containers in. */
export const CRI_NAMESPACE = "k8s.io";
const IMPORT_TIMEOUT_MS = 120_000;

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
