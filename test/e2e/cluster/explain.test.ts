import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tryParseJson } from "../../../src/base/parse-json.ts";
import { decodePodExplanation } from "../../../src/cluster/explain/decode-explanation.ts";
import { explainByNode } from "../../../src/cluster/explain/explain-by-node.ts";
import type { PodExplanation } from "../../../src/explain/explanation.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { runProgram } from "../program.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";

const PODS = "/api/v1/namespaces/default/pods";
const TAINTED = { apiVersion: "v1", kind: "Node", metadata: { name: "tainted", labels: { gpu: "yes" } } };
const GPU_TAINT = { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } };
const EAT_MEMORY = "x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done";
const QUOTA = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "few" }, spec: { hard: { pods: "0" } } };

/** The questions of users: why does it not run, who ended it, what do I do? */
describe("nodelet explain, asked about the most usual causes", () => {
  let world: ClusterNode;
  let kubeconfig: string;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
    kubeconfig = join(world.node.directory, "admin.kubeconfig");
    await writeFile(kubeconfig, world.cluster.kubeconfig, { mode: 0o600 });
  });
  afterAll(async () => await world?.destroy());

  const explain = async (name: string, namespace = "default"): Promise<PodExplanation> => {
    const asked = ["explain", "pod", name, "-n", namespace, "--kubeconfig", kubeconfig, "-o", "json"];
    const { code, stdout, stderr } = await runProgram(...asked);
    if (code !== 0) throw new Error(`nodelet explain pod ${name} ended with ${code}: ${stderr}`);
    return decodePodExplanation(tryParseJson(stdout));
  };
  /** As `nodelet explain` does on the machine of the node, whose own API is served on no port here. */
  const explainOnNode = async (name: string): Promise<PodExplanation> =>
    await explainByNode(join(world.node.directory, "node.sock"), { namespace: "default", name });
  const schedule = async (name: string, spec: object = {}, container: object = {}) =>
    await world.api.object("POST", PODS, shellPod(name, RUN_FOR_EVER, spec, container));
  const isUnschedulable = async (name: string) =>
    await world.pod(name, ({ status }) => (status?.conditions ?? []).some(({ reason }) => reason === "Unschedulable"));
  const isWaiting = (reason: string) => (pod: Parameters<typeof containerOf>[0]) =>
    containerOf(pod, "main")?.state?.waiting?.reason === reason;

  it.concurrent("a missing secret", async () => {
    const env = [{ name: "KEY", valueFrom: { secretKeyRef: { name: "keys", key: "a" } } }];
    await world.create(shellPod("no-secret", RUN_FOR_EVER, {}, { env }));
    await world.pod("no-secret", isWaiting("CreateContainerConfigError"));
    expect((await explain("no-secret")).waits).toMatchObject([
      {
        container: "main",
        reason: "CreateContainerConfigError",
        message: 'secret "keys" not found',
        mend: "Make the secret keys in the namespace default; the pod goes on by itself then.",
      },
    ]);
  });

  it.concurrent("a claim that is not bound", async () => {
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
    };
    await world.api.object("POST", "/api/v1/namespaces/default/persistentvolumeclaims", claim);
    await schedule("unbound", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
    await isUnschedulable("unbound");
    const { waits } = await explain("unbound");
    expect(waits[0]).toMatchObject({
      message: expect.stringContaining("pod has unbound immediate PersistentVolumeClaims"),
      mend: expect.stringContaining("kubectl describe pvc -n default"),
    });
  });

  it.concurrent("an image that cannot be pulled", async () => {
    await world.create(shellPod("bad-image", RUN_FOR_EVER, {}, { image: "127.0.0.1:1/nothing:1" }));
    await world.pod("bad-image", (pod) => isWaiting("ErrImagePull")(pod) || isWaiting("ImagePullBackOff")(pod));
    expect((await explain("bad-image")).waits[0]).toMatchObject({
      container: "main",
      message: expect.stringContaining("connection refused"),
      mend: expect.stringContaining("does not reach the registry"),
    });
  });

  it.concurrent("a quota that lets no pod be made", async ({ expect }) => {
    await world.api.object("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "few" },
    });
    await world.api.object("POST", "/api/v1/namespaces/few/resourcequotas", QUOTA);
    const labels = { app: "web" };
    const template = { ...shellPod("x", RUN_FOR_EVER), metadata: { labels } };
    await world.api.object("POST", "/apis/apps/v1/namespaces/few/replicasets", {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "web" },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    const events = "/api/v1/namespaces/few/events";
    await expect
      .poll(async () => (await world.api.list(events, { fieldSelector: "reason=FailedCreate" })).items)
      .not.toEqual([]);
    const { state, waits } = await explain("web", "few");
    expect(state).toBe("Refused");
    expect(waits[0]).toMatchObject({
      reason: "FailedCreate",
      message: expect.stringMatching(/exceeded quota: few/),
      mend: expect.stringContaining("kubectl describe quota"),
    });
  });

  it.concurrent("a taint, and a request that no node can fulfil", async () => {
    await world.api.object("POST", "/api/v1/nodes", { ...TAINTED, ...GPU_TAINT });
    await schedule("tainted-off", { nodeSelector: { gpu: "yes" } });
    await schedule("too-large", {}, { resources: { requests: { memory: "64Ti" } } });
    await isUnschedulable("tainted-off");
    await isUnschedulable("too-large");
    expect((await explain("tainted-off")).waits).toContainEqual(
      expect.objectContaining({
        message: expect.stringMatching(/^TaintToleration refuses tainted \{.*gpu:NoSchedule/),
        mend: expect.stringContaining("a toleration for the taint"),
      }),
    );
    expect((await explain("too-large")).waits).toContainEqual(
      expect.objectContaining({
        message: expect.stringMatching(
          new RegExp(`NodeResourcesFit refuses ${NODE_NAME} \\(memory: asks for 64Ti, .* is free\\)`),
        ),
        mend: expect.stringContaining("Lower the pod's requests of memory"),
      }),
    );
  });

  it.concurrent("a memory limit, with the limit and the peak", async () => {
    const container = { resources: { limits: { memory: "24Mi" } } };
    await world.create(shellPod("oom", EAT_MEMORY, { restartPolicy: "Never" }, container));
    await world.pod("oom", ({ status }) => status?.phase === "Failed");
    const { ends, steps } = await explainOnNode("oom");
    expect(ends).toContainEqual(
      expect.objectContaining({
        reason: "OOMKilled",
        message: expect.stringContaining("its memory limit is 24Mi"),
        mend: expect.stringContaining("Raise the container's memory limit"),
      }),
    );
    expect(steps).toContainEqual(
      expect.objectContaining({
        reason: "MemoryPeak",
        message: expect.stringMatching(/^The pod's memory was at [\d.]+Mi at its peak, .* is limited to 24Mi/),
      }),
    );
  });

  it.concurrent("a liveness probe that fails, with its last answers", async () => {
    const exec = { command: ["sh", "-c", "echo dead inside $((++n)); date +%N; exit 1"] };
    const livenessProbe = { exec, periodSeconds: 1, failureThreshold: 3 };
    await world.create(shellPod("dead", RUN_FOR_EVER, { terminationGracePeriodSeconds: 0 }, { livenessProbe }));
    await world.pod("dead", (pod) => (containerOf(pod, "main")?.restartCount ?? 0) > 0);
    const { steps } = await explainOnNode("dead");
    const verdict = steps.find(({ reason, message }) => reason === "ProbeVerdict" && message.includes("failed"));
    expect(verdict?.message).toMatch(
      /^Liveness probe failed 3 times in a row; its last answers: (.*dead inside.*){3}/s,
    );
  });

  it.concurrent("a hook that fails", async () => {
    const lifecycle = { postStart: { exec: { command: ["sh", "-c", "echo the hook broke; exit 3"] } } };
    await world.create(shellPod("hooked", RUN_FOR_EVER, { terminationGracePeriodSeconds: 0 }, { lifecycle }));
    await world.event("hooked", { reason: "FailedPostStartHook" });
    const { steps } = await explainOnNode("hooked");
    expect(steps).toContainEqual(
      expect.objectContaining({ reason: "FailedPostStartHook", message: expect.stringContaining("the hook broke") }),
    );
  });

  it.concurrent("an eviction by hand: who, with what, and when it was gone", async () => {
    await world.create(shellPod("evicted", RUN_FOR_EVER, { terminationGracePeriodSeconds: 1 }));
    await world.pod("evicted", isRunning);
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted" } };
    const asDrain = { headers: { "user-agent": "kubectl/v1.36.0 drain" } };
    await world.api.object("POST", `${PODS}/evicted/eviction`, eviction, asDrain);
    await world.gone("evicted");
    const { state, ends, steps } = await explain("evicted");
    expect(state).toBe("Gone");
    expect(ends[0]).toMatchObject({
      reason: "DeletionRequested",
      message: expect.stringMatching(/ with kubectl\/v1\.36\.0 drain, within 1 s: an eviction through the API$/),
    });
    expect(steps.map(({ reason }) => reason)).toContain("RemovedFromApi");
  });

  /** A service, a job or a cron job, as JSON. */
  const explainObject = async (kind: string, name: string): Promise<unknown> => {
    const asked = ["explain", kind, name, "--kubeconfig", kubeconfig, "-o", "json"];
    const { code, stdout, stderr } = await runProgram(...asked);
    if (code !== 0) throw new Error(`nodelet explain ${kind} ${name} ended with ${code}: ${stderr}`);
    return tryParseJson(stdout);
  };

  it.concurrent("services: one of no pod, and one whose port no container has", async () => {
    const pod = shellPod("web", RUN_FOR_EVER);
    await world.create({ ...pod, metadata: { ...Object(pod).metadata, labels: { app: "web" } } });
    for (const [name, app] of Object.entries({ typo: "wbe", nameless: "web" })) {
      const spec = { selector: { app }, ports: [{ port: 80, targetPort: "http" }] };
      const service = { apiVersion: "v1", metadata: { name }, spec };
      await world.api.object("POST", "/api/v1/namespaces/default/services", service);
    }
    await world.pod("web", isRunning);
    expect(await explainObject("service", "typo")).toMatchObject({
      state: "has no endpoints",
      waits: [{ reason: "NoPods", message: "No pod of default that runs has the labels app=wbe." }],
    });
    expect(await explainObject("service", "nameless")).toMatchObject({
      waits: [{ reason: "PortNotFound", message: expect.stringContaining("no TCP port of pod web has that name") }],
    });
  });

  it.concurrent("a job whose pods fail, and a cron job whose last one did", async ({ expect }) => {
    const template = shellPod("x", "exit 3", { restartPolicy: "Never" });
    const jobTemplate = { spec: { backoffLimit: 0, template } };
    const spec = { schedule: "0 0 1 1 *", jobTemplate };
    const cronJobs = "/apis/batch/v1/namespaces/default/cronjobs";
    const cronJob = { apiVersion: "batch/v1", metadata: { name: "yearly" }, spec };
    const { metadata } = await world.api.object("POST", cronJobs, cronJob);
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "yearly", uid: Object(metadata).uid };
    const job = { name: "broken", ownerReferences: [{ ...owner, controller: true }] };
    await world.api.object("POST", "/apis/batch/v1/namespaces/default/jobs", {
      ...{ apiVersion: "batch/v1", metadata: job, spec: jobTemplate.spec },
    });
    await expect
      .poll(async () => await explainObject("job", "broken"))
      .toMatchObject({
        state: "has failed (pods: 0 active, 0 succeeded, 1 failed)",
        ends: [{ reason: "BackoffLimitExceeded", mend: expect.stringContaining("kubectl logs -n default job/broken") }],
      });
    expect(await explainObject("cronjob", "yearly")).toMatchObject({
      state: "runs nothing now, and was never scheduled",
      waits: [{ reason: "NeverScheduled" }],
      ends: [{ message: expect.stringContaining("Its last job broken has failed") }],
    });
  });
});
