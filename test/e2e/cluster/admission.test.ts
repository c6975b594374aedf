import { afterAll, beforeAll, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { claimPort } from "../../machine/claims.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";

const hostPort = await claimPort();
const isFailed = (pod: Pod) => pod.status?.phase === "Failed";

let world: ClusterNode;
beforeAll(async () => {
  world = await createClusterNode();
  await world.node.start(world.flags);
  await world.create(shellPod("owner", RUN_FOR_EVER, {}, { ports: [{ containerPort: 80, hostPort }] }));
  await world.pod("owner", isRunning);
});
afterAll(async () => await world?.destroy());

it.each<[name: string, spec: object, container: object, reason: string, message: RegExp]>([
  [
    "greedy",
    {},
    { resources: { requests: { cpu: "1000" } } },
    "OutOfcpu",
    /Node didn't have enough resource: cpu, requested: 1000000, used: 0, capacity: \d+$/,
  ],
  [
    "choosy",
    { nodeSelector: { "example.com/colour": "green" } },
    {},
    "NodeAffinity",
    /Predicate NodeAffinity failed: node\(s\) didn't match Pod's node affinity\/selector$/,
  ],
  [
    "late",
    {},
    { ports: [{ containerPort: 80, hostPort }] },
    "NodePorts",
    /Predicate NodePorts failed: node\(s\) didn't have free ports for the requested pod ports$/,
  ],
])("%s is refused as a kubelet refuses it", async (name, spec, container, reason, message) => {
  await world.create(shellPod(name, RUN_FOR_EVER, spec, container));
  const { status } = await world.pod(name, isFailed);
  expect(status).toMatchObject({ reason, message: expect.stringMatching(message) });
  await world.event(name, { type: "Warning", reason });
});

it("a pod whose container says so begins anew, all containers of it, and the node declares that it can", async ({
  skip,
}) => {
  const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } };
  const container = { restartPolicy: "Never", restartPolicyRules: [rule] };
  const script = "test -e /shared/again && exec sleep 1000000; touch /shared/again; exit 42";
  const shared = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
  const volumes = [{ name: "shared", emptyDir: {} }];
  const { spec } = await world.create(shellPod("all-again", script, { volumes }, { ...container, ...shared }));
  skip(spec?.containers[0]?.restartPolicyRules === undefined, "this API server does not know of such rules");
  const isAgain = ({ status }: Pod) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0;
  const { status } = await world.pod("all-again", (pod) => isRunning(pod) && isAgain(pod));
  expect(status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 42 });
  const declared = (await world.nodeObject()).status;
  expect(declared).toMatchObject({
    declaredFeatures: expect.arrayContaining(["RestartAllContainersOnContainerExits"]),
  });
});

it("a label that was set a moment before the pod came counts", async () => {
  const labels = { "example.com/shape": "round" };
  await world.api.patch("merge", `/api/v1/nodes/${NODE_NAME}`, { metadata: { labels } });
  await world.create(shellPod("quick", RUN_FOR_EVER, { nodeSelector: labels }));
  await world.pod("quick", isRunning);
});

it("what runs is not refused by an agent that comes after, whatever the labels are by then", async () => {
  const labels = { "example.com/shape": null };
  await world.api.patch("merge", `/api/v1/nodes/${NODE_NAME}`, { metadata: { labels } });
  const { metadata } = await world.pod("quick", isRunning);
  await world.node.stop();
  await world.node.start(world.flags);
  await world.create(shellPod("after", "exit 0", { restartPolicy: "Never" }));
  await world.pod("after", ({ status }) => status?.phase === "Succeeded");
  expect((await world.pod("quick", isRunning)).metadata?.uid).toBe(metadata?.uid);
});
