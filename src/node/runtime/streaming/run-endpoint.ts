import * as cri from "../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { ServedAnswer } from "../../../host/http-server.ts";
import type { NodeEndpoint } from "../../server/node-api.ts";
import { findNamedContainer, findNamedPod, type NamedPods, NO_POD } from "./named-pods.ts";
import { goWordsOf } from "./stream-failure.ts";
import { parseStreamTarget } from "./stream-target.ts";

interface RunEndpointDeps {
  readonly pods: NamedPods;
  readonly runtime: Pick<RuntimeService, "listContainers" | "execSync">;
}

/**
 * Serves `POST /run/{namespace}/{pod}[/{uid}]/{container}?cmd=…`: it runs a command to its end and answers with what
 * the command printed, as `getRun` of pkg/kubelet/server/server.go does. The command is split at spaces, without
 * quoting. It has no time limit, and ends when its client goes.
 */
export function createRunEndpoint({ pods, runtime }: RunEndpointDeps): NodeEndpoint {
  return async (request) => {
    const target = parseStreamTarget(request, { root: "/run", methods: ["POST"] });
    if ("refused" in target) return target.refused;
    const { signal } = request;
    const pod = findNamedPod(pods, target);
    if (pod === undefined) return NO_POD;
    try {
      const containerId = await findNamedContainer({ pods, runtime }, { pod, target }, signal);
      if (containerId === undefined) {
        return { status: 500, body: `container not found (${JSON.stringify(target.containerName)})` };
      }
      const cmd = (request.query.get("cmd") ?? "").split(" ");
      return await runToEnd(runtime, { containerId, cmd }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return { status: 500, body: goWordsOf(error) };
    }
  };
}

async function runToEnd(
  runtime: Pick<RuntimeService, "execSync">,
  asked: { readonly containerId: string; readonly cmd: string[] },
  signal: AbortSignal,
): Promise<ServedAnswer> {
  const request = cri.ExecSyncRequest.fromPartial(asked);
  const { exitCode, stdout, stderr } = await runtime.execSync(request, { timeoutMs: Number.POSITIVE_INFINITY, signal });
  const errors = Buffer.from(stderr);
  if (exitCode !== 0) {
    return {
      status: 500,
      body: `command '${asked.cmd.join(" ")}' exited with ${exitCode}: ${errors.toString("utf8")}`,
    };
  }
  const output = Buffer.concat([stdout, errors]);
  if (output.length === 0) return { status: 200, body: "" };
  // The output is bytes of any kind; upstream calls them JSON.
  return { status: 200, headers: { "content-type": "application/json" }, body: output };
}
