import { createSeededRandom } from "../../src/base/random.ts";
import { createFakeCri } from "../../src/cri/fake/create-fake-cri.ts";
import type { FakeOccurrence } from "../../src/cri/fake/fake-state.ts";
import { createFakeHost } from "../../src/host/fake/create-fake-host.ts";
import type { ApiPods } from "./api/api-pods.ts";
import { createApiUser } from "./api/api-user.ts";
import { type Cluster, createCluster } from "./api/create-cluster.ts";
import { describeRequest } from "./api/gated-client.ts";
import type { Check } from "./checks/check.ts";
import { createChecks } from "./checks/create-checks.ts";
import { createDice, type Dice } from "./dice.ts";
import { createFaults } from "./faults.ts";
import { createStorageGrowth } from "./local-storage/storage-growth.ts";
import { createMachineShutdown } from "./machine-shutdown.ts";
import { createManifests, MANIFEST_DIRECTORY } from "./manifests.ts";
import { createSimulatedNode, type PublishedStatus } from "./node.ts";
import { createPlaces } from "./places.ts";
import { NODE_IMAGES, REGISTRY_IMAGES } from "./pod-script.ts";
import { createProbedPods } from "./probes/probed-pods.ts";
import { isSeedWithoutGrowth, isSeedWithoutStorage, isSeedWithTruthfulPeers, isStandaloneSeed } from "./seeds.ts";
import { createNodeShortage, type NodeShortage } from "./shortage/node-shortage.ts";
import type { StorageDeps } from "./storage/create-storage.ts";
import { createTrace, short } from "./trace.ts";
import type { TroubleDeps } from "./trouble-deps.ts";
import { joinWantedPods } from "./wanted-pods.ts";
import type { Failure, World, WorldOptions } from "./world.ts";

const LATENCY_MS: Readonly<Record<string, number>> = { runPodSandbox: 140, createContainer: 7, startContainer: 75 };
const OTHER_LATENCY_MS = 1;
const MAX_STEPS = 300_000;

interface CreateWorldOptions {
  onLine?: ((line: string) => void) | undefined;
  /** Default: more than any seed takes. */
  mostSteps?: number;
}

/** The share of seeds with an API server, among those that may have one. */
const CLUSTER_SHARE = 0.6;
/** The share with a storage driver, among those with an API server. */
const STORAGE_SHARE = 0.7;
/** Shares among the seeds with an API server. */
const GROWTH_SHARE = 0.5;
const SHUTDOWN_SHARE = 0.5;
/** The share whose API server and storage driver now and then say what is not so. */
const LYING_SHARE = 0.4;
/** The share with probes, among those that may have some. */
const PROBED_SHARE = 0.5;
/** The share with few places for pods, among those with an API server and no storage driver. */
const FEW_PLACES_SHARE = 0.5;
/** The share that runs short of something, among those with an API server and as many places as are wanted. */
const SHORTAGE_SHARE = 0.4;
const SCARCE = ["memory", "disk", "image disk", "pids"] as const;

export async function createWorld(seed: number, limits: CreateWorldOptions = {}): Promise<World> {
  const stream = createStreams(seed);
  const host = createFakeHost({ seed: seed * 16 });
  const { clock, files } = host;
  const dice = stream(1);
  const options: WorldOptions = { hasEvents: dice.chance(0.85), hasLatency: dice.chance(0.5) };
  const trace = createTrace(clock, limits.onLine);
  const faults = createFaults({ clock, dice: stream(2), cgroupDice: stream(7), trace });
  const manifests = createManifests({ files, clock });
  let failure: Failure | undefined;
  let checks: readonly Check[] = [];
  let steps = 0;

  const cri = createFakeCri({
    clock,
    files,
    images: NODE_IMAGES,
    // What a full disk makes the node agent remove can be pulled again.
    registry: [...NODE_IMAGES, ...REGISTRY_IMAGES],
    faults: faults.hooks,
    lacks: options.hasEvents ? [] : ["getContainerEvents"],
    latencyMs: (rpc) => (options.hasLatency ? (LATENCY_MS[rpc] ?? OTHER_LATENCY_MS) : 0),
    onOccurrence(occurrence) {
      trace.note(describe(occurrence));
      for (const check of checks) check.occurred?.(occurrence);
    },
  });
  const fail = (invariant: string, message: string) => {
    if (failure === undefined) trace.note(`FAILED: ${invariant}: ${message}`);
    failure ??= { invariant, message };
  };
  const clusterDice = stream(4);
  const hasCluster = !isStandaloneSeed(seed) && clusterDice.chance(CLUSTER_SHARE);
  const storageDice = stream(8);
  const hasStorage = !isSeedWithoutStorage(seed) && storageDice.chance(STORAGE_SHARE);
  const lies = !isSeedWithTruthfulPeers(seed) && stream(18).chance(LYING_SHARE);
  const cluster: Cluster | undefined = hasCluster
    ? await createCluster({
        host,
        faults,
        trace,
        dice: {
          ...{ options: clusterDice, faults: stream(5), user: stream(6) },
          wrong: lies ? stream(17) : undefined,
        },
        seed: seed * 16 + 7,
        storage: hasStorage
          ? {
              dice: { plan: storageDice, faults: stream(9), user: stream(10) },
              fail,
              ...tellOfDriver(() => checks),
            }
          : undefined,
        onNode(object, previous) {
          for (const check of checks) check.nodeStored?.(object, previous);
        },
        onVersion(version) {
          for (const check of checks) check.stored?.(version);
        },
        onCalled(request) {
          for (const check of checks) check.asked?.(request);
        },
        onWritten(request, answer) {
          if (request.verb !== "get" && request.verb !== "list" && request.plural !== "events")
            trace.note(`api: ${describeRequest(request)}`);
          for (const check of checks) check.wrote?.(request, answer);
        },
      })
    : undefined;
  const placesDice = stream(14);
  const mayLackPlaces = hasCluster && !hasStorage && !isSeedWithoutGrowth(seed);
  const places = mayLackPlaces && placesDice.chance(FEW_PLACES_SHARE) ? createPlaces(placesDice) : undefined;
  const mayRunShort = places === undefined && !isSeedWithoutGrowth(seed);
  const shortage = mayRunShort
    ? createShortage(seed, stream, { host, cri, pods: cluster?.pods, faults, trace })
    : undefined;
  const growthDice = stream(11);
  // Who fills the whole disk is past every limit of its own as well.
  const mayGrow = !isSeedWithoutGrowth(seed) && shortage?.resource.condition !== "DiskPressure";
  const hasGrowth = cluster !== undefined && mayGrow && growthDice.chance(GROWTH_SHARE);
  const growthDeps = { host, cri, faults, trace, dice: growthDice };
  const growth = hasGrowth ? createStorageGrowth({ ...growthDeps, pods: cluster.pods }) : undefined;
  const probeDice = stream(13);
  const hasProbes = !isSeedWithoutGrowth(seed) && probeDice.chance(PROBED_SHARE);
  const probed = hasProbes ? createProbedPods({ host, cri, faults, trace, dice: probeDice }) : undefined;
  const shutdownDice = stream(12);
  const hasShutdown = !isSeedWithoutGrowth(seed) && shutdownDice.chance(SHUTDOWN_SHARE);
  const shutdown = hasShutdown ? createMachineShutdown(host.logind, shutdownDice) : undefined;
  const delays = stream(3);
  const node = createSimulatedNode({
    host,
    cri,
    cluster,
    faults,
    trace,
    fail,
    hasShutdown,
    maxPods: places?.count,
    lacksProcesses: shortage?.resource.name === "pids",
    restartDelayMs: () => delays.between(0, 5_000),
    onStarted() {
      cluster?.storage?.started();
      for (const check of checks) check.started?.();
    },
    onKilled() {
      // That they were about to end is forgotten: where they are wanted again, an end counts as the container's own.
      for (const [uid, { phase }] of node.memory?.workers.states() ?? []) {
        if (phase !== "syncing") world.interference.pods.add(uid);
      }
    },
    onCall(rpc, request) {
      for (const check of checks) check.called?.(rpc, request);
    },
    onLogged(line) {
      cluster?.storage?.read(line);
      for (const check of checks) check.logged?.(line);
    },
    onPublished(published) {
      const { pod, status } = published;
      trace.note(`status of ${pod.metadata?.name}: ${status.phase} ${JSON.stringify(statesOf(published))}`);
      for (const check of checks) check.published?.(published);
    },
  });
  files.put("/etc/hosts", "127.0.0.1 localhost\n");
  files.put(`${MANIFEST_DIRECTORY}/.keep`, "");

  const world: World = {
    host,
    clock,
    cri,
    node,
    manifests,
    cluster,
    user: cluster && createApiUser({ cluster, clock, trace, fail, growth, probed }),
    growth,
    probed,
    shutdown,
    shortage,
    places,
    wanted: joinWantedPods(manifests, cluster?.pods),
    faults,
    trace,
    dice,
    options,
    interference: { endedContainers: new Set(), pods: new Set(), clockJumpedAt: Number.NEGATIVE_INFINITY },
    get failure() {
      return failure;
    },
    fail,
    async passUntil(at) {
      while (failure === undefined) {
        const left = Math.max(0, at - clock.monotonic());
        const next = clock.untilNextTimer();
        await clock.advance(Math.min(left, next ?? left));
        steps++;
        for (const check of checks) check.stepped?.();
        if (steps > (limits.mostSteps ?? MAX_STEPS)) fail("a run ends", `it took more than ${steps - 1} steps`);
        if (left === 0) return;
      }
    },
    get steps() {
      return steps;
    },
  };
  checks = createChecks(world);
  return world;
}

/** The dice of a seed, by number. Those from 16 on come from the other end, where no other seed's are. */
function createStreams(seed: number): (number: number) => Dice {
  return (number) => createDice(createSeededRandom(number < 16 ? seed * 16 + number : ~(seed * 16 + number - 16)));
}

function tellOfDriver(checks: () => readonly Check[]): Pick<StorageDeps, "onCalled" | "onAnswered" | "onDetach"> {
  return {
    onCalled(call) {
      for (const check of checks()) check.driverAsked?.(call);
    },
    onAnswered(call) {
      for (const check of checks()) check.driverAnswered?.(call);
    },
    onDetach(volumeName) {
      for (const check of checks()) check.detached?.(volumeName);
    },
  };
}

/** Undefined on a node that has enough for all, or no pods of an API. */
function createShortage(
  seed: number,
  stream: (number: number) => Dice,
  { pods, ...deps }: Omit<TroubleDeps, "pods" | "dice"> & { pods: ApiPods | undefined },
): NodeShortage | undefined {
  const dice = stream(15);
  const scarce = isSeedWithTruthfulPeers(seed) ? "memory" : stream(16).pick(SCARCE);
  return pods !== undefined && dice.chance(SHORTAGE_SHARE)
    ? createNodeShortage(scarce, { ...deps, pods, dice })
    : undefined;
}

function describe({ what, podName, podUid, containerName, attempt, id, exitCode }: FakeOccurrence): string {
  const code = what === "container-exited" ? ` with ${exitCode}` : "";
  return `${what}${code} ${podName}/${containerName || "(sandbox)"} attempt ${attempt} ${short(id)} of pod ${short(podUid)}`;
}

function statesOf({ status }: PublishedStatus): Record<string, string> {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return Object.fromEntries(
    all.map(({ name, state, restartCount }) => {
      const { running, terminated, waiting } = state ?? {};
      const words = running ? "running" : terminated ? `ended ${terminated.exitCode}` : (waiting?.reason ?? "waits");
      return [name, `${words} (${restartCount})`];
    }),
  );
}
