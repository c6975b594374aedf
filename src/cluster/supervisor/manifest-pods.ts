import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseManifest } from "../../api/manifest.ts";
import { podReference } from "../../api/pods.ts";
import { codeOf, messageOf } from "../../base/errors.ts";

/** The pods that a manifests directory asks for, as far as it can be read. */
interface ManifestPods {
  pods: ExpectedPod[];
  /** These are one sentence for each file or document that cannot be read. */
  problems: string[];
}

/** A pod as its manifest names it; the node's name must still be appended. */
export interface ExpectedPod {
  file: string;
  namespace: string;
  name: string;
}

const MAX_FILES = 1_000;

/** Reads the pods of a directory. Hidden files and subdirectories are ignored, as the node agent ignores them. */
export async function readManifestPods(directory: string): Promise<ManifestPods> {
  const found: ManifestPods = { pods: [], problems: [] };
  let names: string[];
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    names = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return { pods: [], problems: [`${directory} does not exist`] };
  }
  for (const file of names.sort().slice(0, MAX_FILES)) await readFileInto(found, directory, file);
  return found;
}

async function readFileInto(found: ManifestPods, directory: string, file: string): Promise<void> {
  let content: Buffer;
  try {
    content = await readFile(join(directory, file));
  } catch (error) {
    found.problems.push(`${file}: ${messageOf(error)}`);
    return;
  }
  for (const { document, pod, other, errors } of parseManifest(content)) {
    if (other !== undefined) continue;
    found.problems.push(...errors.map((error) => `${file}, document ${document}: ${error}`));
    if (pod === undefined) continue;
    const { name, namespace } = podReference(pod);
    found.pods.push({ file, name, namespace: namespace || "default" });
  }
}
