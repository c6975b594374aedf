import { setMaxListeners } from "node:events";
import { expect } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { composeConfiguration } from "../../../src/config/compose-configuration.ts";
import { createNodeAgentConfig, type NodeAgentConfig } from "../../../src/config/node-agent-config.ts";
import { createRuntimeEvents } from "../../../src/cri/create-runtime-events.ts";
import { createFakeCri } from "../../../src/cri/fake/create-fake-cri.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import { createNodeAgent } from "../../../src/node/compose/node-agent.ts";

const MANIFESTS = "/etc/kubernetes/manifests";
/** Long enough for a pod to start or end; no audit of the lists comes within. */
const LIFE_MS = 10_000;
const START_UP_MS = 15_000;

/** The machine of a node agent, and what runs on it. */
interface GoldenMachine {
  host: ReturnType<typeof createFakeHost>;
  cri: ReturnType<typeof createFakeCri>;
}

type Faults = NonNullable<Parameters<typeof createFakeCri>[0]["faults"]>;

function createMachine(faults: Faults): GoldenMachine {
  const host = createFakeHost();
  return { host, cri: createFakeCri({ clock: host.clock, files: host.files, faults }) };
}

/** A whole node agent on fakes, with one pod in a manifest, whose calls are looked at. */
export async function startGoldenAgent(faults: Faults = {}) {
  return await startOn(createMachine(faults));
}

/** `machine`: another node agent was on it before, which has ended. */
async function startOn(machine: GoldenMachine) {
  const { host, cri } = machine;
  const { clock, files } = host;
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
  const manifest = `${MANIFESTS}/web.json`;
  return {
    host,
    cri,
    /** Resolves when it has started. */
    async startPod(pod: object) {
      files.put(manifest, JSON.stringify(pod));
      await clock.advance(LIFE_MS);
    },
    /** Resolves when it is gone. */
    async endPod() {
      await files.remove(manifest);
      await clock.advance(LIFE_MS);
    },
    async stop() {
      stopping.abort();
      await clock.advance(LIFE_MS);
      await ended;
    },
    /** Another one on the same machine, which finds the pods of this one, which has stopped. */
    startAnother: async () => await startOn(machine),
  };
}

/** Runs until it is told to stop, and ends then. */
export const WEB = {
  name: "main",
  image: "busybox",
  imagePullPolicy: "IfNotPresent",
  command: ["sh", "-c", "trap 'exit 0' TERM; sleep 9999 & wait"],
};

function createConfig(): NodeAgentConfig {
  const flags = new Map<string, unknown>([["pod-manifest-path", MANIFESTS]]);
  const text = JSON.stringify({ kind: "KubeletConfiguration", apiVersion: "kubelet.config.k8s.io/v1beta1" });
  const dropIns = [{ path: "/etc/kubernetes/kubelet.conf.d/10-golden.conf", text }];
  const { configuration, featureGates, errors } = composeConfiguration({ dropIns, flags });
  expect(errors).toEqual([]);
  const rest = { flags, hostname: "golden", workingDirectory: "/" };
  return createNodeAgentConfig({ configuration, featureGates, ...rest }).config;
}
