import { sleep, throwIfAborted } from "../../../../base/abort.ts";
import { type Clock, MINUTE } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { RuntimeService } from "../../../../cri/port.ts";
import type { CgroupPressure, Cgroups, CgroupUsage } from "../../../../host/cgroups-port.ts";
import type { Proc } from "../../../../host/proc-port.ts";
import type { RuntimePod } from "../../../runtime/reading/pod-runtime-status.ts";
import { createContainerCgroups } from "./container-cgroups.ts";
import { createCpuRates, MIN_WINDOW_MS } from "./cpu-rates.ts";
import { listNonContainerGroups } from "./list-non-container-groups.ts";
import { podCgroupOf } from "./pod-cgroup.ts";
import { createPodCpuTotals } from "./pod-cpu-totals.ts";
import { createProcessFiles } from "./process-files.ts";
import { type RuntimeUsage, readRuntimeUsage } from "./runtime-usage.ts";
import type { SandboxStats, SandboxUsage } from "./sandbox-stats.ts";
import type {
  ContainerUsage,
  GroupUsage,
  MeasuredCgroup,
  NodeUsage,
  PodUsage,
  UsageSnapshot,
} from "./usage-snapshot.ts";

/** Reads what the node and its pods use. */
export interface UsageReader {
  read(options: UsageOptions, signal: AbortSignal): Promise<UsageSnapshot>;
}

export interface UsageOptions {
  /** Whether the details of the cgroups are read, which a page of metrics needs. */
  readonly details: boolean;
  /** Whether rates are wanted. A counter without an earlier reading is then read twice, a tenth of a second apart. */
  readonly rates: boolean;
}

interface UsageReaderDeps {
  readonly clock: Clock;
  readonly cgroups: Cgroups;
  readonly proc: Pick<Proc, "interfacesOf" | "pressure" | "openFiles" | "openFileLimit">;
  /** The runtime is asked only about containers that have no cgroup here. */
  readonly runtime: Pick<RuntimeService, "listContainerStats">;
  /** The runtime's own statistics, where they are taken in place of the kernel's (`PodAndContainerStatsFromCRI`). */
  readonly sandboxStats?: SandboxStats | undefined;
  readonly log: Log;
  /** The pods that the runtime holds, by UID, as of the last listing. */
  runtimePods(): ReadonlyMap<string, RuntimePod>;
  /** The path of the cgroup of all pods. By default there is none. */
  cgroupOfAllPods?(): string | undefined;
}

/** The paths of the daemons' cgroups. An empty path means unknown; for the node agent, its own cgroup is then used. */
interface UsageReaderOptions {
  readonly kubeletCgroup: string;
  readonly systemCgroup: string;
  readonly runtimeCgroup?: string;
}

/** The process whose network is the machine's network. */
const INIT_PID = 1;
/** A counter that was not read for this long is taken as gone. */
const REMEMBERED_MS = 5 * MINUTE;

interface Member {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** A pod that is measured, with its sandbox and its running containers. */
interface Subject {
  readonly pod: RuntimePod;
  readonly sandbox: Member;
  readonly containers: readonly Member[];
}

/** The reader does not ask the runtime for anything that the kernel tells, and it reads nothing unless it is asked. */
export function createUsageReader(deps: UsageReaderDeps, options: UsageReaderOptions): UsageReader {
  const { clock, cgroups, proc } = deps;
  const containerCgroups = createContainerCgroups(deps);
  const rates = createCpuRates();
  const totals = createPodCpuTotals();
  const files = createProcessFiles(deps);

  const measure = async (path: string, details: boolean, createdAt?: number): Promise<MeasuredCgroup | undefined> => {
    const usage = await cgroups.read(path, { details });
    if (usage === undefined) return undefined;
    const measured = { at: clock.now(), usage, cpuRate: observe(path, usage, createdAt) };
    return details ? { ...measured, files: await files.of(path, usage.pids) } : measured;
  };
  const observe = (path: string, { cpu }: CgroupUsage, createdAt?: number): number | undefined => {
    if (cpu === undefined) return undefined;
    const sample = { usageNanoseconds: cpu.usageNanoseconds, at: clock.monotonic() };
    return rates.observe(path, sample, createdAt === undefined ? undefined : clock.now() - createdAt);
  };
  /** Reads the cgroup once more if the first reading gave no rate. */
  const completed = async <T extends MeasuredCgroup>(measured: T, path: string | undefined): Promise<T> => {
    if (path === undefined || measured.cpuRate !== undefined || measured.usage.cpu === undefined) return measured;
    const again = await cgroups.read(path);
    const cpuRate = again && observe(path, again);
    return cpuRate === undefined ? measured : { ...measured, cpuRate };
  };

  const readMember = async (member: Member, places: Places, details: boolean): Promise<ContainerUsage | undefined> => {
    const { id, name, createdAt } = member;
    const path = places.paths.get(id);
    if (path !== undefined) {
      const measured = await measure(path, details, createdAt);
      return measured && { ...measured, id, name, createdAt, path };
    }
    const told = places.told.get(id);
    return told && { ...told, id, name, createdAt, path, at: clock.now() };
  };
  const readNetwork = async (members: readonly ContainerUsage[]): Promise<PodUsage["network"]> => {
    for (const pid of members.flatMap(({ usage }) => usage.pids.slice(0, 1))) {
      const interfaces = await proc.interfacesOf(pid);
      if (interfaces !== undefined) return { at: clock.now(), interfaces };
    }
    return undefined;
  };
  const readPressure = async (uid: string, [first]: readonly ContainerUsage[]): Promise<CgroupPressure> => {
    const own = first?.path === undefined ? undefined : podCgroupOf(uid, first.path);
    return own === undefined ? {} : await cgroups.pressure(own);
  };
  const readPod = async (subject: Subject, places: Places, details: boolean): Promise<PodUsage[]> => {
    const { uid, name, namespace } = subject.pod;
    const sandbox = await readMember(subject.sandbox, places, details);
    const containers: ContainerUsage[] = [];
    for (const member of subject.containers) {
      const container = await readMember(member, places, details);
      if (container !== undefined) containers.push(container);
    }
    if (containers.length === 0) return [];
    const members = sandbox === undefined ? containers : [sandbox, ...containers];
    const counters = members.flatMap(({ id, usage }) => (usage.cpu ? [[id, usage.cpu.usageNanoseconds] as const] : []));
    const cpuTotal = counters.length === 0 ? undefined : totals.observe(uid, new Map(counters));
    const network = await readNetwork(members);
    const pressure = await readPressure(uid, members);
    const pod = { uid, name, namespace };
    return [{ pod, createdAt: subject.sandbox.createdAt, sandbox, containers, cpuTotal, network, pressure }];
  };

  const readNode = async (details: boolean): Promise<NodeUsage> => {
    const measured = await measure("/", details);
    if (measured === undefined) throw new Error("the kernel does not count what processes use: no cgroups are mounted");
    const [interfaces, pressure] = await Promise.all([proc.interfacesOf(INIT_PID), proc.pressure()]);
    return { ...measured, interfaces, pressure };
  };
  const readGroups = async (names: SharedCgroups, pods: readonly PodUsage[]): Promise<GroupUsage[]> => {
    const { allPods, kubelet, misc, runtime } = names;
    const places = { allPods, daemons: [kubelet, misc, runtime], pods: pods.map(({ pod }) => pod) };
    const groups: GroupUsage[] = [];
    for (const group of listNonContainerGroups(cgroups, places)) {
      const usage = await cgroups.read(group.path, { details: true });
      if (usage === undefined) continue;
      const open = await files.of(group.path, usage.pids);
      groups.push({ ...group, at: clock.now(), usage, cpuRate: undefined, files: open });
    }
    return groups;
  };
  const findPlaces = async (subjects: readonly Subject[], signal: AbortSignal): Promise<Places> => {
    const containers = subjects.flatMap((subject) => subject.containers.map(({ id }) => id));
    const paths = await containerCgroups.pathsOf(
      new Set([...subjects.map(({ sandbox }) => sandbox.id), ...containers]),
    );
    const pathless = new Set(containers.filter((id) => !paths.has(id)));
    return { paths, told: pathless.size === 0 ? new Map() : await readRuntimeUsage(deps, pathless, signal) };
  };
  /** Reads missing rates after a pause of its own, so that no other caller waits for a slow runtime. */
  const completeRates = async (snapshot: UsageSnapshot, names: SharedCgroups, signal: AbortSignal) => {
    if (!lacksRate(snapshot)) return snapshot;
    await sleep(clock, MIN_WINDOW_MS, signal);
    const { node, kubelet, misc, runtime, allPods, pods } = snapshot;
    const completePod = async (pod: PodUsage): Promise<PodUsage> => ({
      ...pod,
      sandbox: pod.sandbox && (await completed(pod.sandbox, pod.sandbox.path)),
      containers: await Promise.all(pod.containers.map(async (container) => completed(container, container.path))),
    });
    return {
      ...snapshot,
      node: await completed(node, "/"),
      kubelet: kubelet && (await completed(kubelet, names.kubelet)),
      misc: misc && (await completed(misc, names.misc)),
      runtime: runtime && (await completed(runtime, names.runtime)),
      allPods: allPods && (await completed(allPods, names.allPods)),
      pods: await Promise.all(pods.map(completePod)),
    };
  };

  return {
    async read({ details, rates: wantsRates }, signal) {
      throwIfAborted(signal);
      const subjects = [...deps.runtimePods().values()].flatMap(findSubject);
      // The details are the kernel's alone.
      const told = details ? undefined : await deps.sandboxStats?.read(signal);
      const places = told ? NO_PLACES : await findPlaces(subjects, signal);
      const names = { ...(await findDaemons(cgroups, options)), allPods: deps.cgroupOfAllPods?.() };
      const node = await readNode(details);
      const kubelet = names.kubelet === undefined ? undefined : await measure(names.kubelet, details);
      const misc = names.misc === undefined ? undefined : await measure(names.misc, details);
      const runtime = names.runtime === undefined ? undefined : await measure(names.runtime, details);
      const allPods = names.allPods === undefined ? undefined : await measure(names.allPods, details);
      const pods: PodUsage[] = [];
      for (const subject of subjects) {
        pods.push(
          ...(told
            ? describeTold(subject, told.get(subject.sandbox.id), observe)
            : await readPod(subject, places, details)),
        );
      }
      totals.retain(new Set(subjects.map(({ pod }) => pod.uid)));
      rates.forget(clock.monotonic() - REMEMBERED_MS);
      const groups = details ? await readGroups(names, pods) : [];
      const snapshot = { node, kubelet, misc, runtime, allPods, pods, ...(details && { groups }) };
      return wantsRates ? await completeRates(snapshot, names, signal) : snapshot;
    },
  };
}

type ObserveCpu = (key: string, usage: CgroupUsage, createdAt: number) => number | undefined;

/** A rate that the runtime does not tell is that of its counter. Pods that it does not know are left out, as upstream. */
function describeTold(subject: Subject, told: SandboxUsage | undefined, observe: ObserveCpu): PodUsage[] {
  const { pod, sandbox } = subject;
  const containers = subject.containers.flatMap(({ id, name, createdAt }): ContainerUsage[] => {
    const measured = told?.containers.get(id);
    if (measured === undefined) return [];
    const cpuRate = measured.cpuRate ?? observe(`${TOLD}${id}`, measured.usage, createdAt);
    return [{ ...measured, cpuRate, id, name, createdAt, path: undefined }];
  });
  if (told === undefined || containers.length === 0) return [];
  const { uid, name, namespace } = pod;
  const cpuTotal = told.total?.usage.cpu?.usageNanoseconds;
  const { network } = told;
  return [
    {
      pod: { uid, name, namespace },
      createdAt: sandbox.createdAt,
      sandbox: undefined,
      ...{ containers, cpuTotal, network, pressure: told.total?.usage.pressure ?? {}, told },
    },
  ];
}

/** The counters that a runtime tells are no cgroup's, and so have names that no path has. */
const TOLD = "told by the runtime: ";

/** Says where each container is measured: in its cgroup (`paths`) or by the runtime (`told`). */
interface Places {
  readonly paths: ReadonlyMap<string, string>;
  readonly told: ReadonlyMap<string, RuntimeUsage>;
}

const NO_PLACES: Places = { paths: new Map(), told: new Map() };

interface DaemonCgroups {
  readonly kubelet: string | undefined;
  readonly misc: string | undefined;
  readonly runtime: string | undefined;
}

interface SharedCgroups extends DaemonCgroups {
  readonly allPods: string | undefined;
}

async function findDaemons(
  cgroups: Pick<Cgroups, "own">,
  { kubeletCgroup, systemCgroup, runtimeCgroup = "" }: UsageReaderOptions,
): Promise<DaemonCgroups> {
  return {
    kubelet: kubeletCgroup || (await cgroups.own()),
    misc: systemCgroup || undefined,
    runtime: runtimeCgroup || undefined,
  };
}

/**
 * Describes a pod by its newest ready sandbox and the containers that run in it. The result is empty for a pod that has
 * no such sandbox or containers.
 */
function findSubject(pod: RuntimePod): Subject[] {
  const [sandbox] = pod.sandboxes.filter(({ state }) => state === "ready").sort((a, b) => b.attempt - a.attempt);
  if (sandbox === undefined) return [];
  const containers = pod.containers.filter(({ state, sandboxId }) => state === "running" && sandboxId === sandbox.id);
  return containers.length === 0 ? [] : [{ pod, sandbox: { ...sandbox, name: "" }, containers }];
}

function lacksRate({ node, kubelet, misc, runtime, allPods, pods }: UsageSnapshot): boolean {
  const members = pods.flatMap(({ sandbox, containers }) => (sandbox ? [sandbox, ...containers] : containers));
  const lacking = (measured: MeasuredCgroup | undefined) =>
    measured?.usage.cpu !== undefined && measured.cpuRate === undefined;
  return (
    [node, kubelet, misc, runtime, allPods].some(lacking) ||
    members.some((member) => member.path !== undefined && lacking(member))
  );
}
