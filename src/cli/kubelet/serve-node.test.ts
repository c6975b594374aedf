import { expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { composeConfiguration } from "../../config/compose-configuration.ts";
import { createNodeAgentConfig } from "../../config/node-agent-config.ts";
import { parseFlags } from "../../config/parse-flags.ts";
import { explainNode } from "../../explain/explain-node.ts";
import { explainPod } from "../../explain/explain-pod.ts";
import type { ListenAddress, ListenHttp } from "../../host/http-server.ts";
import type { NodeView } from "../../node/server/handlers.ts";
import { serveNode } from "./serve-node.ts";

const view: NodeView = {
  nodeName: "n",
  runtime: () => ({ name: "fake", version: "1" }),
  conditions: () => [],
  pods: () => [],
  manifestProblems: () => [],
  revisionOf: () => "",
  runningPods: () => [],
  timeline: () => [],
  explainer: {
    pod: async ({ namespace, name }) => explainPod({ namespace, name, pod: undefined, records: [] }),
    node: () => explainNode({ node: "node-1", conditions: [], pods: [], recordsOf: () => [] }),
  },
  health: { find: () => undefined },
  metrics: async () => ({ contentType: "text/plain", text: "" }),
  statistics: {},
};

function configOf(...argv: string[]) {
  const parsed = parseFlags(argv);
  if (!parsed.ok) throw new Error(parsed.error);
  const composed = composeConfiguration({ dropIns: [], flags: parsed.values });
  return createNodeAgentConfig({ ...composed, flags: parsed.values, hostname: "n", workingDirectory: "/" }).config;
}

function fakeListen(refusedPort?: number) {
  const open = new Set<ListenAddress>();
  const listen: ListenHttp = async ({ at }) => {
    if ("port" in at && at.port === refusedPort) throw new Error("in use");
    open.add(at);
    return { port: 0, use: () => undefined, close: async () => void open.delete(at) };
  };
  return { listen, open };
}

it("opens what the configuration asks for, and closes it", async () => {
  const { listen, open } = fakeListen();
  const config = configOf("--read-only-port=10255", "--address=127.0.0.2", "--nodelet-socket=/run/n.sock");
  const servers = await serveNode(view, config, { listen, log: silentLog });
  expect([...open]).toEqual([
    { address: "127.0.0.1", port: 10_248 },
    { address: "127.0.0.2", port: 10_255 },
    { socketPath: "/run/n.sock" },
  ]);
  await servers.close();
  expect(open.size).toBe(0);
});

it("opens nothing when all is off, as the read-only server is by default", async () => {
  const { listen, open } = fakeListen();
  await serveNode(view, configOf("--healthz-port=0"), { listen, log: silentLog });
  expect(open.size).toBe(0);
});

it("leaves nothing open when one cannot listen, and names the flag that moves it", async () => {
  const { listen, open } = fakeListen(10_255);
  const opening = serveNode(view, configOf("--read-only-port=10255"), { listen, log: silentLog });
  await expect(opening).rejects.toThrow("read-only server: in use (readOnlyPort, --read-only-port; 0 for none)");
  expect(open.size).toBe(0);
});
