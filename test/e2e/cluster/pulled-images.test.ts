import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { containerOf, isRunning } from "../pods.ts";
import { secret } from "./api-objects.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { type LocalRegistry, startLocalRegistry } from "./local-registry.ts";

const isWaitingFor = (reason: RegExp) => (pod: Pod) =>
  reason.test(containerOf(pod, "main")?.state?.waiting?.reason ?? "");
const isRefused = isWaitingFor(/^(ErrImagePull|ImagePullBackOff)$/);

describe("an image that one pod pulled with its secret", () => {
  let world: ClusterNode;
  let registry: LocalRegistry;
  beforeAll(async () => {
    registry = await startLocalRegistry();
    world = await createClusterNode();
    const pullSecret = (name: string) =>
      secret(name, { ".dockerconfigjson": registry.dockerConfig }, { type: "kubernetes.io/dockerconfigjson" });
    await world.cluster.apply(pullSecret("pull"), pullSecret("copy"));
    await world.node.start(world.flags);
    await create("owner", { imagePullSecrets: [{ name: "pull" }] });
    await world.pod("owner", isRunning);
  });
  afterAll(async () => {
    await world?.destroy();
    await registry?.close();
  });

  const create = async (name: string, spec: object = {}, imagePullPolicy = "IfNotPresent"): Promise<void> => {
    const containers = [{ name: "main", image: registry.image, imagePullPolicy }];
    const shared = { terminationGracePeriodSeconds: 1, containers };
    await world.create({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { ...shared, ...spec } });
  };
  const records = async (kind: string) => {
    const directory = join(world.node.directory, "kubelet/image_manager", kind);
    const read = async (name: string) => [name, JSON.parse(await readFile(join(directory, name), "utf8"))] as const;
    return await Promise.all((await readdir(directory)).map(read));
  };

  it("is noted as a Go kubelet notes it", async () => {
    const { body } = await world.api.json("GET", "/api/v1/namespaces/default/secrets/pull");
    const { uid } = JSON.parse(JSON.stringify(body)).metadata;
    const imageRef = containerOf(await world.pod("owner", isRunning), "main")?.imageID?.replace(/^.*@/, "");
    expect(imageRef).toMatch(/^sha256:/);
    expect(await records("pulling")).toEqual([]);
    const credentialHash = createHash("sha256").update('{"username":"robot","password":"p4ssw0rd"}').digest("hex");
    const kubernetesSecrets = [{ uid, namespace: "default", name: "pull", credentialHash }];
    const [[name, record] = [], ...others] = await records("pulled");
    expect(others).toEqual([]);
    expect(record).toEqual({
      kind: "ImagePulledRecord",
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      lastUpdatedTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      imageRef: expect.stringMatching(/^sha256:/),
      credentialMapping: { [registry.image.replace(/:1$/, "")]: { kubernetesSecrets } },
    });
    expect(name).toBe(`sha256-${createHash("sha256").update(record.imageRef).digest("hex")}`);
  });

  it("is not for a pod without it, which has to ask the registry", async () => {
    await create("stranger");
    const pod = await world.pod("stranger", isRefused);
    expect(containerOf(pod, "main")?.state?.waiting?.message).toMatch(/401|unauthorized|authorization failed/i);
  });

  it("is as good as absent to a pod that must not pull", async () => {
    await create("modest", {}, "Never");
    const pod = await world.pod("modest", isWaitingFor(/^ErrImageNeverPull$/));
    expect(containerOf(pod, "main")?.state?.waiting?.message).toBe(
      `Container image "${registry.image}" is not present with pull policy of Never`,
    );
  });

  it("is for a pod with the same credentials in another secret, without a pull", async () => {
    await create("friend", { imagePullSecrets: [{ name: "copy" }] }, "Never");
    await world.pod("friend", isRunning);
    const message = `Container image "${registry.image}" already present on machine and can be accessed by the pod`;
    await world.event("friend", { type: "Normal", reason: "Pulled", message });
  });

  it("stays so after a restart, and images that nobody pulled are for all", async () => {
    await world.node.kill();
    await world.node.start(world.flags);
    await create("late-stranger");
    await world.pod("late-stranger", isRefused);
    await create("late-friend", { imagePullSecrets: [{ name: "pull" }] });
    await world.pod("late-friend", isRunning);
    const containers = [{ name: "main", image: DEMO_IMAGE, command: ["sleep", "1000"], imagePullPolicy: "Never" }];
    await create("preloaded", { containers });
    await world.pod("preloaded", isRunning);
  });
});
