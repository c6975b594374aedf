import { expect, it } from "vitest";
import { startGoldenAgent, WEB } from "../__fixtures__/golden-agent.ts";

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

/** What a node agent asks that finds the pod running. The first relist has shown what there is of it. */
const TAKE_UP = ["podSandboxStatus", "containerStatus"];

/** Calls for the node as a whole, which are made whether or not a pod comes or goes. */
const OF_NODE = new Set(["version", "status", "runtimeConfig", "listImages", "imageFsInfo", "getContainerEvents"]);
it("makes exactly these calls for the start and the end of a pod", async () => {
  const calls: string[] = [];
  const before = ({ rpc, request }: { rpc: string; request: unknown }) => {
    if (!OF_NODE.has(rpc) && !isAudit(rpc, request)) calls.push(rpc);
  };
  const agent = await startGoldenAgent({ before });
  calls.length = 0;
  await agent.startPod({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec: { containers: [WEB] } });
  expect(calls.splice(0)).toEqual(START);
  await agent.endPod();
  expect(calls.splice(0)).toEqual(END);
  expect(agent.cri.containers()).toEqual([]);
  await agent.stop();
});

it("makes exactly these calls when it is started again, for each pod that runs", async () => {
  const calls: string[] = [];
  const before = ({ rpc, request }: { rpc: string; request: unknown }) => {
    if (!OF_NODE.has(rpc) && !isAudit(rpc, request)) calls.push(rpc);
  };
  const first = await startGoldenAgent({ before });
  await first.startPod({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec: { containers: [WEB] } });
  await first.stop();
  calls.length = 0;
  const second = await first.startAnother();
  expect(calls.splice(0)).toEqual(TAKE_UP);
  await second.endPod();
  await second.stop();
});

/** The relist asks for everything. */
function isAudit(rpc: string, request: unknown): boolean {
  if (!rpc.startsWith("list")) return false;
  return !(typeof request === "object" && request !== null && "filter" in request && request.filter !== undefined);
}
