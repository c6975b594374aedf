import { setMaxListeners } from "node:events";
import { expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { composeConfiguration } from "../../../src/config/compose-configuration.ts";
import { createNodeAgentConfig, type NodeAgentConfig } from "../../../src/config/node-agent-config.ts";
import { createRuntimeEvents } from "../../../src/cri/create-runtime-events.ts";
import { createFakeCri } from "../../../src/cri/fake/create-fake-cri.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import { createNodeAgent } from "../../../src/node/compose/node-agent.ts";

/**
 * Which calls of the runtime a pod of one container costs, in their order. Who adds one changes this file, and says why
 * the call is needed.
 */
const START = [
  "runPodSandbox",
  // The addresses, for the hosts file and the environment; and how it is, for the reading below.
  "podSandboxStatus",
  "imageStatus",
  "createContainer",
  "startContainer",
  // What came of it, without asking the lists, or the sandbox a second time.
  "containerStatus",
];
const END = [
  "stopContainer",
  "stopPodSandbox",
  // How it ended. Its sandbox has ended with it, and takes it along.
  "containerStatus",
  "removePodSandbox",
  // That nothing is left: only the lists can say so.
  "listPodSandbox",
  "listContainers",
];

const MANIFESTS = "/etc/kubernetes/manifests";
/** Calls for the node as a whole, which are made whether or not a pod comes or goes. */
const OF_NODE = new Set(["version", "status", "runtimeConfig", "listImages", "imageFsInfo", "getContainerEvents"]);
/** Long enough for a pod to start or end; no audit of the lists comes within. */
const LIFE_MS = 10_000;
const START_UP_MS = 15_000;

it("makes exactly these calls for the start and the end of a pod", async () => {
  const host = createFakeHost();
  const { clock, files } = host;
  const calls: string[] = [];
  const before = ({ rpc, request }: { rpc: string; request: unknown }) => {
    if (!OF_NODE.has(rpc) && !isAudit(rpc, request)) calls.push(rpc);
  };
  const cri = createFakeCri({ clock, files, faults: { before } });
  const events = createRuntimeEvents({ runtime: cri.runtime, clock, log: silentLog });
  const connect = () => expect.unreachable("the node has no plugins");
  const plugins = {
    connectRegistration: connect,
    connectCsi: connect,
    connectDevicePlugin: connect,
    connectDraPlugin: connect,
    serve: async () => await Promise.resolve({ close: async () => {} }),
  };
  const ports = { host, cri, events, kube: undefined, plugins, log: silentLog, metrics: createMetrics() };
  const agent = await createNodeAgent(ports, createConfig());
  const stopping = new AbortController();
  // Every part of the agent listens.
  setMaxListeners(0, stopping.signal);
  const ended = agent.run(stopping.signal);
  ended.catch(() => undefined);
  await clock.advance(START_UP_MS);
  calls.length = 0;

  files.put(`${MANIFESTS}/web.json`, JSON.stringify(POD));
  await clock.advance(LIFE_MS);
  expect(calls.splice(0)).toEqual(START);
  await files.remove(`${MANIFESTS}/web.json`);
  await clock.advance(LIFE_MS);
  expect(calls.splice(0)).toEqual(END);
  expect(cri.containers()).toEqual([]);

  stopping.abort();
  await clock.advance(LIFE_MS);
  await ended;
});

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: {
    containers: [
      {
        name: "main",
        image: "busybox",
        imagePullPolicy: "IfNotPresent",
        command: ["sh", "-c", "trap 'exit 0' TERM; sleep 9999 & wait"],
      },
    ],
  },
};

/** The relist asks for everything. */
function isAudit(rpc: string, request: unknown): boolean {
  if (!rpc.startsWith("list")) return false;
  return !(typeof request === "object" && request !== null && "filter" in request && request.filter !== undefined);
}

function createConfig(): NodeAgentConfig {
  const flags = new Map<string, unknown>([["pod-manifest-path", MANIFESTS]]);
  const text = JSON.stringify({ kind: "KubeletConfiguration", apiVersion: "kubelet.config.k8s.io/v1beta1" });
  const dropIns = [{ path: "/etc/kubernetes/kubelet.conf.d/10-golden.conf", text }];
  const { configuration, featureGates, errors } = composeConfiguration({ dropIns, flags });
  expect(errors).toEqual([]);
  const rest = { flags, hostname: "golden", workingDirectory: "/" };
  return createNodeAgentConfig({ configuration, featureGates, ...rest }).config;
}
