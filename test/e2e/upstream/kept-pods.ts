import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { settlesOn } from "../cluster/settles.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { createClaimed, ON_THIS_NODE, ofClaim } from "../volumes/claims.ts";
import { registeredDrivers, startDriver, type TestDriver } from "../volumes/csi-world.ts";
import type { UpstreamNode } from "./go-kubelet.ts";

const NAMESPACED = "/api/v1/namespaces/default";
const DRIVER = "kept.e2e.example.com";
const START_TIMEOUT_MS = 90_000;
const REGISTRATION_TIMEOUT_MS = 60_000;

/** Pods of every local kind of volume and container, as either node agent runs them. */
export interface KeptPods {
  /** Undefined where the kubelet cannot speak with it. */
  readonly driver: TestDriver | undefined;
  /** Creates them, and waits until each is where it stays. */
  create(): Promise<Pod[]>;
  /** What they read from the API becomes another value. */
  change(colour: string): Promise<void>;
  /** What the pods' containers see of it. */
  seenColours(): Promise<string[]>;
  remove(): Promise<void>;
}

/** The names of pods that run, and of one that is done. */
export const RUNNING_PODS = ["volumes", "containers", "restarted", "privileged"] as const;
const DONE_POD = "done";

interface KeptPodsOptions {
  readonly hostPort: number;
  /** The version of the Go kubelet that runs them, before or after: 28 of 1.28. Decides what they may have. */
  readonly minor: number;
  /** Whether containers have requests and limits. Default true. */
  readonly hasResources?: boolean;
}

/** Sidecars, and CSI drivers that are written for Node.js: kubelet 1.25 asks these in a way that HTTP/2 forbids. */
const SINCE_MINOR = 28;

/** Makes what the pods mount. The node agent must run, for the CSI driver to be registered. */
export async function prepareKeptPods(world: UpstreamNode, options: KeptPodsOptions): Promise<KeptPods> {
  const create = async (resource: string, object: object) =>
    await world.api.object("POST", `${NAMESPACED}/${resource}`, { apiVersion: "v1", ...object });
  const data = { colour: "red", other: "o" };
  await create("configmaps", { kind: "ConfigMap", metadata: { name: "settings" }, data });
  await create("secrets", { kind: "Secret", metadata: { name: "key" }, stringData: { password: "s3cret" } });
  for (const name of ["disk", "host"]) {
    await mkdir(join(world.scratch, name));
    await writeFile(join(world.scratch, name, "kept"), "kept");
  }
  const local = { local: { path: join(world.scratch, "disk") }, ...ON_THIS_NODE };
  await createClaimed(world, { name: "local", source: local });
  const driver = options.minor >= SINCE_MINOR ? await startClaimedDriver(world) : undefined;
  return {
    driver,
    async create() {
      const pods = [
        volumesPod(world.scratch, driver !== undefined),
        containersPod(options),
        restartedPod(),
        privilegedPod(),
        donePod(),
      ];
      for (const pod of pods) await world.create(pod);
      const running = RUNNING_PODS.map(async (name) => await world.pod(name, isSettled, START_TIMEOUT_MS));
      const done = world.pod(DONE_POD, ({ status }) => status?.phase === "Succeeded", START_TIMEOUT_MS);
      return await Promise.all([...running, done]);
    },
    async change(colour) {
      await world.api.patch("merge", `${NAMESPACED}/configmaps/settings`, { data: { colour } });
      const labels = { colour };
      await world.api.patch("merge", `${NAMESPACED}/pods/volumes`, { metadata: { labels } });
    },
    async seenColours() {
      const files = ["/settings/colour", "/all/colour", "/sub-settings", "/downward/labels"];
      const read = files.map((file) => `echo "$(cat ${file})"`).join("; ");
      return (await world.shell("volumes", read)).trim().split("\n");
    },
    async remove() {
      await driver?.stop({ cleanUp: true });
    },
  };
}

async function startClaimedDriver(world: UpstreamNode): Promise<TestDriver> {
  const driver = await startDriver(world, DRIVER);
  await driver.claimed("csi");
  await settlesOn(DRIVER, async () => (await registeredDrivers(world))[0]?.["name"], REGISTRATION_TIMEOUT_MS);
  return driver;
}

/** Runs, is ready, and has come to the restart that it makes. */
function isSettled(pod: Pod): boolean {
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  const restarts = pod.metadata?.name === "restarted" ? 1 : 0;
  return isRunning(pod) && isReady === true && containerOf(pod, "main")?.restartCount === restarts;
}

function volumesPod(scratch: string, hasDriver: boolean): object {
  const volumes: Array<{ name: string } & Record<string, unknown>> = [
    { name: "disk", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "8Mi" } },
    { name: "host", hostPath: { path: join(scratch, "host"), type: "Directory" } },
    { name: "settings", configMap: { name: "settings", items: [{ key: "colour", path: "colour", mode: 0o440 }] } },
    { name: "key", secret: { secretName: "key", defaultMode: 0o400 } },
    { name: "absent", configMap: { name: "no-such", optional: true } },
    { name: "downward", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
    {
      name: "all",
      projected: {
        sources: [
          { serviceAccountToken: { path: "token", audience: "vault", expirationSeconds: 3600 } },
          { configMap: { name: "settings" } },
          { secret: { name: "key", items: [{ key: "password", path: "deep/down/password" }] } },
          { downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
        ],
      },
    },
    { name: "local", ...ofClaim("local") },
    ...(hasDriver ? [{ name: "csi", ...ofClaim("csi") }] : []),
  ];
  const mounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const subPaths = [
    { name: "disk", mountPath: "/sub-disk", subPath: "a/b" },
    { name: "settings", mountPath: "/sub-settings", subPath: "colour" },
    { name: "local", mountPath: "/sub-local", subPath: "part", readOnly: true },
  ];
  const pod = shellPod(
    "volumes",
    RUN_FOR_EVER,
    { volumes, securityContext: { fsGroup: 2000 }, terminationGracePeriodSeconds: 2 },
    { volumeMounts: [...mounts, ...subPaths] },
  );
  return { ...pod, metadata: { name: "volumes", labels: { colour: "red" } } };
}

/** Containers of all kinds, a port of the host, and files that kubelet makes for a pod. */
function containersPod({ hostPort, minor, hasResources = true }: KeptPodsOptions): object {
  const image = DEMO_IMAGE;
  const sleep = ["sh", "-c", RUN_FOR_EVER];
  const initContainers = [
    { name: "first", image, command: ["sh", "-c", "echo made > /shared/first; echo ready > /dev/termination-log"] },
    ...(minor >= SINCE_MINOR ? [{ name: "sidecar", image, command: sleep, restartPolicy: "Always" }] : []),
  ].map((container) => ({ ...container, volumeMounts: [{ name: "shared", mountPath: "/shared" }] }));
  const spec = {
    initContainers,
    volumes: [{ name: "shared", emptyDir: {} }],
    hostAliases: [{ ip: "10.9.8.7", hostnames: ["elsewhere"] }],
    hostname: "here",
    subdomain: "there",
    dnsConfig: { options: [{ name: "ndots", value: "2" }] },
  };
  const resources = { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } };
  const ports = [{ containerPort: 8080, hostPort }];
  const lifecycle = { preStop: { exec: { command: ["true"] } } };
  const env = [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
  const more = {
    ...(hasResources && { resources }),
    ports,
    lifecycle,
    env,
    volumeMounts: [{ name: "shared", mountPath: "/shared" }],
  };
  return shellPod("containers", RUN_FOR_EVER, spec, more);
}

/** Ends once, and goes on after that. */
function restartedPod(): object {
  const script = `if [ -e /state/been ]; then ${RUN_FOR_EVER}; else touch /state/been; exit 3; fi`;
  const volumes = [{ name: "state", emptyDir: {} }];
  return shellPod("restarted", script, { volumes }, { volumeMounts: [{ name: "state", mountPath: "/state" }] });
}

function privilegedPod(): object {
  const spec = { hostNetwork: true, hostPID: true, dnsPolicy: "ClusterFirstWithHostNet", enableServiceLinks: false };
  const securityContext = { privileged: true, readOnlyRootFilesystem: true };
  return shellPod("privileged", RUN_FOR_EVER, spec, { securityContext, terminationMessagePath: "/tmp-message" });
}

function donePod(): object {
  return shellPod(DONE_POD, "echo bye > /dev/termination-log", { restartPolicy: "Never" });
}
