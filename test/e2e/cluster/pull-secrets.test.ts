import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning } from "../pods.ts";
import { secret } from "./api-objects.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { type LocalRegistry, startLocalRegistry } from "./local-registry.ts";

const SERVERS = await clusterServersUnderTest();

const isRefused = (pod: Pod) =>
  /^(ErrImagePull|ImagePullBackOff)$/.test(containerOf(pod, "main")?.state?.waiting?.reason ?? "");

describe.each(SERVERS)("an image that only some may pull, on $name", (server) => {
  let world: ClusterNode;
  let registry: LocalRegistry;
  beforeAll(async () => {
    registry = await startLocalRegistry();
    world = await createClusterNode({ server });
    const pullSecret = (name: string, config: string) =>
      secret(name, { ".dockerconfigjson": config }, { type: "kubernetes.io/dockerconfigjson" });
    const wrong = registry.dockerConfig.replaceAll(/"(auth|password)":"[^"]*"/g, '"$1":"bm9ib2R5Om5v"');
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "puller", namespace: "default" } };
    await world.cluster.apply(pullSecret("pull", registry.dockerConfig), pullSecret("wrong", wrong), {
      ...account,
      imagePullSecrets: [{ name: "pull" }],
    });
    await world.node.start(world.flags);
  });
  afterAll(async () => {
    await world?.destroy();
    await registry?.close();
  });

  const create = async (name: string, spec: object): Promise<void> => {
    const containers = [{ name: "main", image: registry.image, imagePullPolicy: "Always" }];
    const shared = { terminationGracePeriodSeconds: 1, containers };
    await world.create({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { ...shared, ...spec } });
  };

  it.concurrent.each([
    ["nothing", {}],
    ["wrong", { imagePullSecrets: [{ name: "wrong" }] }],
  ])("is refused to a pod that has %s to show", async (name, spec) => {
    await create(`pod-${name}`, spec);
    const pod = await world.pod(`pod-${name}`, isRefused);
    expect(containerOf(pod, "main")?.state?.waiting?.message).toMatch(/401|unauthorized|authorization failed/i);
    expect(world.node.log()).not.toContain("bm9ib2R5Om5v");
  });

  it.concurrent.each([
    ["pod", { imagePullSecrets: [{ name: "pull" }] }],
    ["account", { serviceAccountName: "puller" }],
    ["several", { imagePullSecrets: [{ name: "wrong" }, { name: "absent" }, { name: "pull" }] }],
  ])("is given to a pod whose secret is named by: %s", async (name, spec) => {
    await create(`by-${name}`, spec);
    await world.pod(`by-${name}`, isRunning);
    const pulled = await world.event(`by-${name}`, { type: "Normal", reason: "Pulled" });
    expect(pulled.message).toMatch(/^Successfully pulled image "localhost:\d+\/private\/app:1" in /);
  });

  it.concurrent("tells of a secret that is not there", async () => {
    await create("absent", { imagePullSecrets: [{ name: "absent" }, { name: "pull" }] });
    const message =
      "Unable to retrieve some image pull secrets (absent); attempting to pull the image may not succeed.";
    await world.event("absent", { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message });
    await world.pod("absent", isRunning);
  });
});
