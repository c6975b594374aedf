import { setMaxListeners } from "node:events";
import type { Rpc } from "../../grpc/service.ts";
import { CgroupDriver, ImageServiceDefinition } from "../gen/cri-v1.ts";
import type { RuntimeService } from "../port.ts";
import type { Handlers } from "./fake-answers.ts";
import type { FakeServer } from "./fake-connection.ts";
import { createContainerHandlers } from "./fake-containers.ts";
import { createSandboxHandlers } from "./fake-sandboxes.ts";
import type { FakeState } from "./fake-state.ts";
import { createStatsHandlers } from "./fake-stats.ts";

/** The runtime's process, which can be stopped and started while its state, and the containers, live on. */
interface RestartableServer extends FakeServer {
  stop(): void;
  /** Idempotent. */
  start(): void;
}

/** See FakeCriOptions. */
interface FakeServerOptions extends Pick<FakeServer, "faults" | "subscribe"> {
  latencyMs: ((rpc: string) => number) | undefined;
  lacks: readonly string[];
}

/** The server runs when it is returned. */
export function createFakeServer(state: FakeState, options: FakeServerOptions): RestartableServer {
  const { faults, lacks, latencyMs = () => 0, subscribe } = options;
  const runtime = {
    ...createNodeHandlers(state),
    ...createSandboxHandlers(state),
    ...createContainerHandlers(state),
    ...createStatsHandlers(state),
  };
  const handlers = {
    runtime: new Map(Object.entries(runtime)),
    images: new Map(Object.entries(state.images.handlers)),
  };
  let run: AbortController | undefined = startRun();

  const findHandler = ({ service, key }: Rpc) => {
    if (lacks.includes(key)) return undefined;
    const table = service === ImageServiceDefinition.fullName ? handlers.images : handlers.runtime;
    // The codec of the same RPC made the request, so it is what the handler takes.
    return table.get(key) as ReturnType<FakeServer["handler"]>;
  };
  return {
    clock: state.clock,
    faults,
    latencyMs,
    handler: findHandler,
    subscribe: lacks.includes("getContainerEvents") ? undefined : subscribe,
    get running() {
      return run?.signal;
    },
    stop() {
      const ended = run;
      run = undefined;
      ended?.abort();
    },
    start() {
      run ??= startRun();
    },
  };
}

/** Every call in flight listens to its signal. */
function startRun(): AbortController {
  const run = new AbortController();
  setMaxListeners(0, run.signal);
  return run;
}

function createNodeHandlers(state: FakeState): Handlers<RuntimeService> {
  return {
    version: () => ({ version: "0.1.0", runtimeName: "fake", runtimeVersion: "v1.0.0", runtimeApiVersion: "v1" }),
    status: () => {
      const { ready, message } = state.network;
      const network = { reason: ready ? "" : "NetworkPluginNotReady", message };
      return {
        status: {
          conditions: [
            { type: "RuntimeReady", status: true, reason: "", message: "" },
            { type: "NetworkReady", status: ready, ...network },
          ],
        },
        info: {},
        runtimeHandlers: [],
        features: undefined,
      };
    },
    runtimeConfig: () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }),
    updateRuntimeConfig: () => ({}),
  };
}
