import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { connectCri } from "../../cri/connect.ts";
import type { Cri } from "../../cri/port.ts";
import { findProgram } from "../containerd/machine-facts.ts";
import { computeRuntimeLayout } from "../containerd/runtime-layout.ts";
import { type ArchiveImporter, createArchiveImporter } from "./archive-importer.ts";

/** The two ways to the images of a node's own containerd. */
interface ImageConnection {
  readonly cri: Cri;
  readonly importer: ArchiveImporter;
}

/**
 * Connects to the containerd that runs in the directory. `binary` is the containerd that was asked for; `ctr` lies
 * beside it. Rejects with `not-running` or `containerd-missing`.
 */
export async function connectImages(
  directory: string,
  { binary = "containerd" }: { binary?: string | undefined },
): Promise<ImageConnection> {
  const { socket } = computeRuntimeLayout(directory);
  const found = await stat(socket).catch(() => undefined);
  if (found?.isSocket() !== true) {
    throw new CodedError("not-running", `no containerd of nodelet runs in ${directory}. Start it: nodelet up`);
  }
  const path = await findProgram(binary);
  if (path === undefined) throw new CodedError("containerd-missing", `${binary} is not installed: install containerd`);
  return {
    cri: connectCri({ endpoint: `unix://${socket}`, log: silentLog, metrics: createMetrics() }),
    importer: createArchiveImporter({ program: join(dirname(path), "ctr"), socket }),
  };
}
