import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import type { ContainerdOptions } from "../containerd/start-containerd.ts";
import { ensureFile } from "../processes/ensure-file.ts";
import type { PodPlaces } from "./state-layout.ts";

/**
 * How the node of a state directory was last started. To remove its pods, the runtime must be started in the same way, and
 * the next start keeps to what pods and volumes know.
 */
interface RuntimeOptions extends Pick<ContainerdOptions, "binary" | "podCidr" | "bridge">, Partial<PodPlaces> {
  /** The directory that its node agent watches. */
  manifests?: string;
  nodeName?: string;
}

const NAMES = ["binary", "podCidr", "bridge", "manifests", "kubeletRoot", "podLogs", "nodeName"] as const;

/** Writes the options, and replaces those from before. */
export async function writeRuntimeOptions(stateDirectory: string, options: RuntimeOptions): Promise<void> {
  await ensureFile(optionsPath(stateDirectory), `${JSON.stringify(options, [...NAMES])}\n`);
}

/** Reads the options; empty when none were written. */
export async function readRuntimeOptions(stateDirectory: string): Promise<RuntimeOptions> {
  let text: string;
  try {
    text = await readFile(optionsPath(stateDirectory), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return {};
    throw error;
  }
  const value: unknown = JSON.parse(text);
  const options: RuntimeOptions = {};
  if (typeof value !== "object" || value === null) return options;
  const entries = new Map(Object.entries(value));
  for (const name of NAMES) {
    const option: unknown = entries.get(name);
    if (typeof option === "string") options[name] = option;
  }
  return options;
}

const optionsPath = (stateDirectory: string) => join(stateDirectory, "runtime.json");
