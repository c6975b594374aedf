import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../src/base/errors.ts";
import type { Measure } from "../measure.ts";
import type { ApiCaseName, BenchOptions } from "../options.ts";
import type { ApiCase } from "./api-case.ts";
import type { ApiProgram } from "./api-server.ts";
import { apiCreate } from "./create.ts";
import { kubeApiserverProgram } from "./kube-apiserver.ts";
import { apiList } from "./list.ts";
import { apiMemory } from "./memory.ts";
import { nodeletProgram } from "./nodelet.ts";
import { apiReady } from "./ready.ts";
import { apiWatch } from "./watch.ts";

const CASES: Readonly<Record<ApiCaseName, ApiCase>> = {
  "api-ready": apiReady,
  "api-create": apiCreate,
  "api-watch": apiWatch,
  "api-list": apiList,
  "api-memory": apiMemory,
};

/** What `statfs` calls a file system that is in memory only. */
const TMPFS = 0x0102_1994;

/** The cases of the control plane, each on servers of its own. */
export async function runApiCases(
  options: BenchOptions,
  { signal, progress }: { signal: AbortSignal; progress(text: string): void },
): Promise<{ measures: readonly Measure[]; runtimes: readonly string[] }> {
  if (options.apiCases.length === 0) return { measures: [], runtimes: [] };
  const directory = await mkdtemp(join(tmpdir(), "nodelet-bench-"));
  const measures: Measure[] = [];
  const programs = findPrograms(options.program);
  try {
    for (const name of options.apiCases) {
      const context = {
        programs,
        makeDirectory: async () => await mkdtemp(join(directory, "state-")),
        sizes: options.sizes,
        signal,
        progress: (text: string) => progress(`${name}: ${text}`),
      };
      try {
        measures.push(...(await CASES[name](context)));
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
      }
    }
    const others = programs.length > 1 ? [] : ["no kube-apiserver beside it, for KUBEBUILDER_ASSETS is not set"];
    return { measures, runtimes: [await describeDisk(directory), ...others] };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function findPrograms(nodelet: string): ApiProgram[] {
  const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";
  return [nodeletProgram(nodelet), ...(assets === "" ? [] : [kubeApiserverProgram(assets)])];
}

/** Durable writes mean nothing on a disk that is none; TMPDIR names another. */
async function describeDisk(directory: string): Promise<string> {
  const { type } = await statfs(directory);
  return type === TMPFS ? `files in memory (${tmpdir()} is a tmpfs; set TMPDIR)` : `files in ${tmpdir()}`;
}
