import type { Container, Pod } from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import { createBackOff } from "../../../../base/back-off.ts";
import { silentLog } from "../../../../base/log.ts";
import { createMetrics } from "../../../../base/metrics.ts";
import type { FakeCriOptions } from "../../../../cri/fake/create-fake-cri.ts";
import { createSubPaths } from "../../../storage/volumes/subpaths/sub-paths.ts";
import type { ReadyVolume } from "../../../storage/volumes/volume-plugin.ts";
import { NO_REFS } from "../../config/__fixtures__/no-objects.ts";
import { TEST_NODE } from "../../config/__fixtures__/node.ts";
import type { NodeFacts } from "../../config/node-facts.ts";
import { openImages } from "../../images/__fixtures__/open-images.ts";
import { createImageEnsurer } from "../../images/image-ensurer.ts";
import { createFakeNode, NEVER, POLITE } from "../../reading/__fixtures__/fake-node.ts";
import { createPodConfigs, type PodConfigsDeps } from "../create-pod-configs.ts";
import { createPodRuntime } from "../create-pod-runtime.ts";
import { createPodFiles } from "../pod-files.ts";
import type { SyncOutcome } from "../pod-runtime.ts";
import type { RuntimeVolumeDeps } from "../start-container.ts";
import type { RuntimeHandlerDeps } from "../start-sandbox.ts";

interface PodShape {
  main?: Array<Partial<Container>>;
  init?: Array<Partial<Container>>;
  spec?: Partial<NonNullable<Pod["spec"]>>;
}

/** Containers are called `main` and `init`, and run until they are told to end, unless the shape says otherwise. */
export function makePod({ main = [{}], init = [], spec = {} }: PodShape = {}): Pod {
  const complete = (name: string) => (container: Partial<Container>) => ({
    name,
    image: "busybox",
    command: [...POLITE],
    imagePullPolicy: "IfNotPresent",
    terminationMessagePath: "/dev/termination-log",
    ...container,
  });
  return {
    metadata: { uid: "uid-1", name: "web", namespace: "default" },
    spec: {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      containers: main.map(complete("main")),
      ...(init.length > 0 ? { initContainers: init.map(complete("init")) } : {}),
      ...spec,
    },
  };
}

/** What the rig is made of, where a test does not leave it to the defaults. */
export interface RuntimeRigOptions
  extends Partial<FakeCriOptions>,
    Partial<Omit<PodConfigsDeps, "files">>,
    Partial<RuntimeHandlerDeps>,
    Partial<RuntimeVolumeDeps> {
  facts?: Partial<NodeFacts>;
}

interface RigSyncOptions {
  signal?: AbortSignal;
  volumes?: ReadonlyMap<string, ReadyVolume>;
  volumesFinished?: Promise<void>;
}

const ONE_PULL = { parallelPulls: 1 };
const no = () => false;

/** The executor of plans over a fake machine and a fake runtime. */
export function createRuntimeRig(options: RuntimeRigOptions = {}) {
  const {
    facts,
    refs = NO_REFS,
    userNamespaces,
    cgroupParentOf,
    devices,
    cpus,
    memory,
    runtimeHandlerOf,
    ...more
  } = options;
  const { runtimeVersion = () => ({ name: "", version: "" }), ...abilities } = more;
  const { supportsUserNamespaces = no, supportsRecursiveReadOnly = no, ...others } = abilities;
  const { supportsSupplementalGroupsPolicy = no, ...criOptions } = others;
  const node = createFakeNode(criOptions);
  const { host, clock, cri, timeline } = node;
  const rootDirectory = "/var/lib/kubelet";
  const metrics = createMetrics();
  const subPaths = createSubPaths({ ...host, log: silentLog }, { rootDirectory });
  const podFiles = createPodFiles(
    { files: host.files, subPaths, userNamespaces: undefined },
    { rootDirectory, clusterDomain: "cluster.local", seLinuxEnabled: false },
  );
  const runtime = createPodRuntime({
    cri,
    host,
    timeline,
    metrics,
    configs: createPodConfigs(
      { ...TEST_NODE, ...facts },
      { files: host.files, refs, userNamespaces, cgroupParentOf, devices, cpus, memory },
    ),
    backOff: createBackOff({ initialMs: 10_000, maxMs: 300_000 }),
    ensureImage: createImageEnsurer({ ...openImages({ clock, metrics }), images: cri.images, timeline }, ONE_PULL)
      .ensureImage,
    verdictOf: () => ({ started: true, failed: undefined }),
    endProbes: undefined,
    podFiles,
    hostIps: () => ["192.0.2.2"],
    podLogsDirectory: "/var/log/pods",
    containerLogsDirectory: "/var/log/containers",
    runtimeHandlerOf,
    supportsUserNamespaces,
    ...{ runtimeVersion, supportsRecursiveReadOnly, supportsSupplementalGroupsPolicy },
  });

  /** Syncs the pod as its worker does, on what the runtime holds now; returns failures as `main CrashLoopBackOff`. */
  const sync = async (pod: Pod, options: RigSyncOptions = {}) => {
    const { signal = NEVER, volumes = new Map<string, ReadyVolume>(), volumesFinished = Promise.resolve() } = options;
    let changes = 0;
    /** How many containers there were each time that a new sandbox was told to be ready. */
    const readyBefore: number[] = [];
    await podFiles.makeDirectories(pod);
    const status = await node.read(pod);
    const running: Promise<SyncOutcome> = runtime.sync(pod, status, {
      volumes: { volumes, finished: volumesFinished },
      signal,
      beforeChange: () => void changes++,
      onSandboxReady: () => void readyBefore.push(cri.containers().length),
    });
    let over = false;
    const ended = running.finally(() => {
      over = true;
    });
    ended.catch(() => undefined);
    await clock.settle();
    for (let step = 0; step < 1_000 && !over; step++) await clock.advance(clock.untilNextTimer() ?? 0);
    const { failures } = await ended;
    await clock.settle();
    return { failures, changes, readyBefore, told: [...failures].map(([name, { reason }]) => `${name} ${reason}`) };
  };
  /** Containers as the runtime has them: `main#0 running`. */
  const containers = () =>
    cri.containers().map(({ config, state }) => `${config.metadata?.name}#${config.metadata?.attempt} ${state}`);
  const logDirectory = (pod: Pod) => {
    const { uid, name, namespace } = podReference(pod);
    return `/var/log/pods/${namespace}_${name}_${uid}`;
  };
  /** What was counted so far, by the series' names without `kubelet_`. */
  const counted = async (): Promise<Record<string, string>> => {
    const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("kubelet_"));
    return Object.fromEntries(lines.map((line) => line.slice("kubelet_".length).split(" ")));
  };
  return { ...node, runtime, sync, containers, logDirectory, subPaths, counted };
}
