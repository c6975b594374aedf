import { join } from "node:path";
import { podFullName } from "../../../api/pods.ts";
import { type Clock, formatTime, SECOND } from "../../../base/clock.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import type { Files } from "../../../host/port.ts";
import type { NodeEndpoint } from "../../server/node-api.ts";
import { containersOf, findNamedContainer, findNamedPod, type NamedPods, NO_POD } from "./named-pods.ts";
import { goWordsOf } from "./stream-failure.ts";
import { parseStreamTarget, type StreamTarget } from "./stream-target.ts";

interface CheckpointEndpointDeps {
  readonly pods: NamedPods;
  readonly runtime: Pick<RuntimeService, "listContainers" | "checkpointContainer">;
  readonly files: Pick<Files, "makeDirectory">;
  readonly clock: Pick<Clock, "now">;
}

interface CheckpointEndpointOptions {
  /** The directory in which checkpoints are written; it is made for the first one. */
  readonly directory: string;
  /** `runtimeRequestTimeout`: a checkpoint may always take this long, whatever its request says. */
  readonly requestTimeoutMs: number;
}

/** A checkpoint holds the memory of a container, so only the administrator of the node may read it. */
const DIRECTORY_MODE = 0o700;

/**
 * Serves `POST /checkpoint/{namespace}/{pod}/{container}[?timeout=seconds]`: the runtime writes the state of a running
 * container to a file, and the answer holds the file's path, as `checkpoint` of pkg/kubelet/server/server.go does.
 */
export function createCheckpointEndpoint(
  deps: CheckpointEndpointDeps,
  options: CheckpointEndpointOptions,
): NodeEndpoint {
  return async (request) => {
    const target = parseStreamTarget(request, { root: "/checkpoint", methods: ["POST"], hasUid: false });
    if ("refused" in target) return target.refused;
    const { namespace, podName, containerName } = target;
    const pod = findNamedPod(deps.pods, target);
    if (pod === undefined) return NO_POD;
    if (!containersOf(pod).some(({ name }) => name === containerName)) {
      return { status: 404, body: `container ${containerName} does not exist` };
    }
    const timeout = parseTimeout(request.query);
    if (timeout === undefined) return { status: 404, body: "cannot parse value of timeout parameter" };
    const fail = (why: string) => {
      return { status: 500, body: `checkpointing of ${namespace}/${podName}/${containerName} failed (${why})` };
    };
    try {
      const containerId = await findNamedContainer(deps, { pod, target }, request.signal);
      if (containerId === undefined) return fail(`container ${containerName} not found`);
      if (timeout < 0n) return fail("CheckpointContainer requires the timeout value to be > 0");
      const location = join(options.directory, fileNameOf(podFullName(pod), target, deps.clock));
      return await checkpoint(deps, { request, containerId, location, timeout }, options);
    } catch (error) {
      if (request.signal.aborted) throw error;
      return fail(goWordsOf(error));
    }
  };
}

/** Returns seconds. The last value counts where there are several; undefined for a value that is no whole number. */
function parseTimeout(query: URLSearchParams): bigint | undefined {
  const text = query.getAll("timeout").at(-1);
  if (text === undefined) return 0n;
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const seconds = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, seconds) === seconds ? seconds : undefined;
}

function fileNameOf(fullName: string, { containerName }: StreamTarget, clock: Pick<Clock, "now">): string {
  return `checkpoint-${fullName}-${containerName}-${formatTime(clock.now())}.tar`;
}

interface Asked {
  readonly request: ServedRequest;
  readonly containerId: string;
  readonly location: string;
  /** The time-out that the client asks for, in seconds. */
  readonly timeout: bigint;
}

async function checkpoint(
  { runtime, files }: CheckpointEndpointDeps,
  { request, containerId, location, timeout }: Asked,
  { directory, requestTimeoutMs }: CheckpointEndpointOptions,
): Promise<ServedAnswer> {
  const least = BigInt(Math.floor(requestTimeoutMs / SECOND));
  const seconds = timeout > least ? timeout : least;
  await files.makeDirectory(directory, DIRECTORY_MODE);
  await runtime.checkpointContainer(
    cri.CheckpointContainerRequest.fromPartial({ containerId, location, timeout: seconds }),
    { timeoutMs: Number(seconds) * SECOND, signal: request.signal },
  );
  return { status: 200, headers: { "content-type": "application/json" }, body: `{"items":["${location}"]}` };
}
