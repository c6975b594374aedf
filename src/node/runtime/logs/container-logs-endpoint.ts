import type { Pod } from "../../../api/gen/types.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Page, ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import { findLoggedContainer } from "./find-logged-container.ts";
import { decodeLogOptions, type LogOptions } from "./log-options.ts";
import { findLogPlace } from "./log-place.ts";
import { ContainerLogError, type ReadLogDeps, readLog } from "./read-log.ts";

interface ContainerLogsDeps extends ReadLogDeps {
  /** Finds a pod of this node, with its status; undefined for any other pod. */
  readonly findPod: (namespace: string, name: string) => Pod | undefined;
}

interface ContainerLogsOptions {
  readonly podLogsDirectory: string;
  /** The gate PodLogsQuerySplitStreams. */
  readonly splitStreams: boolean;
}

/** What the client asks for. */
interface Asked {
  readonly pod: string;
  readonly container: string;
  readonly options: LogOptions;
}

/**
 * `GET /containerLogs/{namespace}/{pod}/{container}`, which serves `kubectl logs`: getContainerLogs of
 * pkg/kubelet/server/server.go, with its words and codes. A failure after the answer has begun is written at its end.
 */
export function createContainerLogsEndpoint(
  deps: ContainerLogsDeps,
  { podLogsDirectory, splitStreams }: ContainerLogsOptions,
): (request: ServedRequest) => ServedAnswer {
  return ({ method, path, query }) => {
    const [, , namespace = "", podName = "", container = "", ...more] = path.split("/");
    if (more.length > 0) return text(404, "404: Page Not Found");
    if (method !== "GET") return text(405, "405: Method Not Allowed");
    if (podName === "") return text(400, `{"message": "Missing podID."}`);
    if (container === "") return text(400, `{"message": "Missing container name."}`);
    if (namespace === "") return text(400, `{"message": "Missing podNamespace."}`);
    const decoded = decodeLogOptions(query, deps.clock.now());
    if (decoded.kind === "undecodable") return text(400, `{"message": "Unable to decode query."}`);
    if (decoded.kind === "invalid") return text(422, `{"message": "Invalid request."}`);
    const { options } = decoded;

    const pod = deps.findPod(namespace, podName);
    if (pod === undefined) return text(404, `pod ${JSON.stringify(podName)} does not exist`);
    if (!hasContainer(pod, container)) {
      return text(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(podName)}`);
    }
    if (!splitStreams && options.stream !== "All") {
      const asked = `unable to return the given log stream: ${JSON.stringify(options.stream)}.`;
      return text(400, `${asked} Please enable PodLogsQuerySplitStreams feature gate in kubelet`);
    }
    const found = findLoggedContainer(pod.status, { pod: podName, container, previous: options.previous });
    if (found.kind === "none") return text(400, found.message);
    return answer(deps, podLogsDirectory, { asked: { pod: podName, container, options }, id: found.containerId });
  };
}

function answer(
  deps: ContainerLogsDeps,
  podLogsDirectory: string,
  { asked, id }: { asked: Asked; id: string },
): ServedAnswer {
  return {
    status: 200,
    headers: { "content-type": "text/plain" },
    body: {
      async produce({ write, signal }) {
        try {
          const containerId = id.split("://").at(-1) ?? "";
          const logPath = await findLogPath(deps, { containerId, named: id }, signal);
          const place = findLogPlace(podLogsDirectory, logPath);
          if (place === undefined) throw new Error(`the log ${logPath} is not one of a pod of this node`);
          await readLog(deps, { containerId, place }, { options: asked.options, write, signal });
        } catch (error) {
          if (isAbort(error)) return;
          const { pod, container } = asked;
          deps.log.warn("cannot read a container's log", { pod, container, error: messageOf(error) });
          await write(Buffer.from(messageOf(error)));
        }
      },
    },
  };
}

/** Asks the runtime where the log is. A failure names the id alone, as upstream; the runtime's own error is logged. */
async function findLogPath(
  { runtime, log }: ContainerLogsDeps,
  { containerId, named }: { containerId: string; named: string },
  signal: AbortSignal,
): Promise<string> {
  try {
    const { status } = await runtime.containerStatus({ containerId, verbose: false }, { signal });
    if (status !== undefined) return status.logPath;
  } catch (error) {
    if (isAbort(error)) throw error;
    log.debug("Failed to get container status", { containerID: named, error: messageOf(error) });
  }
  throw new ContainerLogError("no-container", `unable to retrieve container logs for ${named}`);
}

function hasContainer({ spec }: Pod, name: string): boolean {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].some((one) => one.name === name);
}

const text = (status: number, body: string): Page => ({ status, body });
