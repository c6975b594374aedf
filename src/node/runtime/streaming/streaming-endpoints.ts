import type { Pod } from "../../../api/gen/types.ts";
import { podFullName, podUid } from "../../../api/pods.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import type { NodeEndpoint } from "../../server/node-api.ts";
import type { CarriedStreams } from "./carried-streams.ts";
import { findReadySandbox } from "./find-running.ts";
import { containersOf, findNamedContainer, findNamedPod, isNamedPod, type NamedPods, NO_POD } from "./named-pods.ts";
import { parsePorts } from "./port-forward-ports.ts";
import { parseRemoteCommandOptions } from "./remote-command-options.ts";
import { createRunEndpoint } from "./run-endpoint.ts";
import { answerOf } from "./stream-failure.ts";
import { createStreamProxy, type StreamProxyDeps, type StreamProxyOptions } from "./stream-proxy.ts";
import { parseStreamTarget, type StreamTarget, type TargetShape } from "./stream-target.ts";

interface StreamingDeps extends StreamProxyDeps {
  readonly carried: CarriedStreams;
  readonly pods: NamedPods;
  readonly runtime: Pick<
    RuntimeService,
    "listContainers" | "listPodSandbox" | "exec" | "attach" | "portForward" | "execSync"
  >;
}

/** The endpoints `/exec`, `/attach`, `/portForward` and `/run`. */
export interface Streaming {
  readonly endpoints: Readonly<Record<string, NodeEndpoint>>;
  /** When the signal fires, ends all streams; resolves when none is left. */
  run(signal: AbortSignal): Promise<void>;
}

const METHODS = ["GET", "POST"];

/**
 * Serves the streams of containers and pods. The runtime serves each stream itself, to any client with the URL that it
 * makes for one call. The node finds the container or pod, asks for the URL and carries the bytes
 * (pkg/kubelet/server/server.go).
 */
export function createStreamingEndpoints(deps: StreamingDeps, options: StreamProxyOptions): Streaming {
  const proxy = createStreamProxy(deps, options);
  const { runtime, carried } = deps;
  const open = async (
    request: ServedRequest,
    ask: (signal: AbortSignal) => Promise<string>,
    carry: Carry | undefined,
  ) => (carry === undefined ? await proxy.open(request, ask) : await proxy.openCarried(request, ask, carry));
  const named = (shape: Omit<TargetShape, "methods">, serve: ServePod): NodeEndpoint => {
    return async (request) => await servePod(deps, { request, shape: { ...shape, methods: METHODS } }, serve);
  };

  const exec: ServePod = async ({ request, pod, target }) => {
    const streams = parseRemoteCommandOptions(request.query);
    if (typeof streams === "string") return { status: 400, body: streams };
    if (pod === undefined) return NO_POD;
    const { containerName } = target;
    const containerId = await findNamedContainer(deps, { pod, target }, request.signal);
    if (containerId === undefined)
      return { status: 500, body: `container not found (${JSON.stringify(containerName)})` };
    const cmd = request.query.getAll("command");
    const asked = cri.ExecRequest.fromPartial({ ...streams, containerId, cmd });
    const ask = async (signal: AbortSignal) => (await runtime.exec(asked, { signal })).url;
    return await open(request, ask, carried.channels(request, asked));
  };

  const attach: ServePod = async ({ request, pod, target }) => {
    const streams = parseRemoteCommandOptions(request.query);
    if (typeof streams === "string") return { status: 400, body: streams };
    if (pod === undefined) return NO_POD;
    const { containerName } = target;
    const containerId = await findNamedContainer(deps, { pod, target }, request.signal);
    const container = containersOf(pod).find(({ name }) => name === containerName);
    if (containerId === undefined || container === undefined) {
      return { status: 500, body: `container ${containerName} not found in pod ${podFullName(pod)}` };
    }
    // It was settled when the process began whether it has a terminal.
    const asked = cri.AttachRequest.fromPartial({ ...streams, containerId, tty: container.tty === true });
    const ask = async (signal: AbortSignal) => (await runtime.attach(asked, { signal })).url;
    return await open(request, ask, carried.channels(request, asked));
  };

  const portForward: ServePod = async ({ request, pod, target }) => {
    const carry = carried.tunnel(request);
    const port = isWebSocket(request) && carry === undefined ? parsePorts(request.query) : [];
    if (typeof port === "string") return { status: 400, body: port };
    if (pod === undefined) return NO_POD;
    if (!isNamedPod(deps.pods, pod, target)) return { status: 404, body: "pod not found" };
    const podSandboxId = await findReadySandbox(runtime, podUid(pod), request.signal);
    if (podSandboxId === undefined) return { status: 500, body: `pod not found (${JSON.stringify(podFullName(pod))})` };
    const asked = cri.PortForwardRequest.fromPartial({ podSandboxId, port: [...port] });
    return await open(request, async (signal) => (await runtime.portForward(asked, { signal })).url, carry);
  };

  return {
    endpoints: {
      "/exec": named({ root: "/exec" }, exec),
      "/attach": named({ root: "/attach" }, attach),
      "/portForward": named({ root: "/portForward", hasContainer: false }, portForward),
      "/run": createRunEndpoint(deps),
    },
    run: proxy.run,
  };
}

type Carry = NonNullable<ReturnType<CarriedStreams["tunnel"]>>;

interface PodRequest {
  readonly request: ServedRequest;
  readonly target: StreamTarget;
  /** Undefined where no source names the pod. */
  readonly pod: Pod | undefined;
}

type ServePod = (asked: PodRequest) => Promise<ServedAnswer>;

async function servePod(
  { pods }: Pick<StreamingDeps, "pods">,
  { request, shape }: { readonly request: ServedRequest; readonly shape: TargetShape },
  serve: ServePod,
): Promise<ServedAnswer> {
  const target = parseStreamTarget(request, shape);
  if ("refused" in target) return target.refused;
  const pod = findNamedPod(pods, target);
  return await answerOf(request.signal, async () => await serve({ request, target, pod }));
}

function isWebSocket(request: ServedRequest): boolean {
  return request.isUpgrade && request.header("upgrade")[0]?.toLowerCase() === "websocket";
}
