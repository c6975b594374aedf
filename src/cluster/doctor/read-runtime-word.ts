import { stat } from "node:fs/promises";
import { silentLog } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { connectCri } from "../../cri/connect.ts";
import { StatusRequest, VersionRequest } from "../../cri/gen/cri-v1.ts";
import { computeRuntimeLayout } from "../containerd/runtime-layout.ts";
import { computeStateLayout } from "../supervisor/state-layout.ts";
import type { RuntimeWord } from "./runtime-word.ts";

/** The socket of a machine's own containerd. */
const SYSTEM_SOCKET = "/run/containerd/containerd.sock";
/** A busy runtime may take this long, and a runtime that hangs must not delay the other findings. */
const CALL_TIMEOUT_MS = 3_000;

/**
 * Asks the runtime of the state directory, or else the machine's own. The result is undefined where none runs, none may
 * be asked or none answers. No runtime is started for this.
 */
export async function readRuntimeWord(stateDirectory: string): Promise<RuntimeWord | undefined> {
  const own = computeRuntimeLayout(computeStateLayout(stateDirectory).runtime).socket;
  for (const socket of [own, SYSTEM_SOCKET]) {
    const found = await stat(socket).catch(() => undefined);
    if (found?.isSocket() !== true) continue;
    const word = await askRuntime(`unix://${socket}`).catch(() => undefined);
    if (word !== undefined) return word;
  }
  return undefined;
}

async function askRuntime(endpoint: string): Promise<RuntimeWord> {
  const cri = connectCri({ endpoint, log: silentLog, metrics: createMetrics() });
  const call = { timeoutMs: CALL_TIMEOUT_MS };
  try {
    const { runtimeName, runtimeVersion } = await cri.runtime.version(VersionRequest.fromPartial({}), call);
    const { runtimeHandlers, features } = await cri.runtime.status(StatusRequest.fromPartial({}), call);
    // The handler without a name is the default. An older runtime that does not report handlers has none of them.
    const handler = runtimeHandlers.find(({ name }) => name === "")?.features;
    return {
      endpoint,
      version: `${runtimeName} ${runtimeVersion.replace(/^v/, "")}`,
      userNamespaces: handler?.userNamespaces === true,
      recursiveReadOnlyMounts: handler?.recursiveReadOnlyMounts === true,
      supplementalGroupsPolicy: features?.supplementalGroupsPolicy === true,
    };
  } finally {
    cri.close();
  }
}
