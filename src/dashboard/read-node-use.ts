import type { KubeResource } from "../api/kube-resource.ts";
import { isRecord } from "../api/object.ts";
import { quantityValue } from "../api/quantity.ts";
import { messageOf } from "../base/errors.ts";
import { parseEvictionThresholds } from "../config/eviction-thresholds.ts";
import type { KubeClient } from "../kube/port.ts";
import type { FileSystemUse, NamedUse, NodeUse, PodCgroupUse, UsageThreshold } from "./model/node-use.ts";

interface UsageDeps {
  readonly client: Pick<KubeClient, "get">;
  now(): number;
}

/**
 * Reads what a node uses from its own API, by way of the API server. Rejects as the client does. Thresholds that cannot
 * be read are a gap.
 */
export async function readNodeUse({ client, now }: UsageDeps, node: string, signal: AbortSignal): Promise<NodeUse> {
  const gaps: string[] = [];
  const read = async (beneath: string, name: string) =>
    await client.get(pageOfNode(node, beneath), { namespace: "", name }, { signal });
  const settings = read("", "configz").catch((error: unknown) => {
    gaps.push(`the thresholds at which pods are evicted are not known (${messageOf(error)})`);
    return undefined;
  });
  const summary = await read("/stats", "summary");
  const configuration = await settings;
  return { ...describeUse(node, summary), at: now(), thresholds: readThresholds(configuration), gaps };
}

/** A page of a node's API. What it answers is no object of Kubernetes. */
function pageOfNode(node: string, beneath: string): KubeResource<unknown> {
  const plural = `nodes/${encodeURIComponent(node)}/proxy${beneath}`;
  return { group: "", version: "v1", plural, kind: "NodePage", namespaced: false, read: (value) => value };
}

/** Takes from a summary of any version what the page shows. A field that is not there, or is no number, is unknown. */
export function describeUse(node: string, summary: unknown): Omit<NodeUse, "at" | "thresholds" | "gaps"> {
  const { node: whole, pods } = fieldsOf(summary);
  const { cpu, memory, fs, runtime, rlimit, systemContainers } = fieldsOf(whole);
  return {
    node,
    cpuNanoCores: numberOf(cpu, "usageNanoCores"),
    memory: {
      availableBytes: numberOf(memory, "availableBytes"),
      workingSetBytes: numberOf(memory, "workingSetBytes"),
    },
    nodeFs: describeFileSystem(fs),
    imageFs: describeFileSystem(fieldsOf(runtime)["imageFs"]),
    pids: { used: numberOf(rlimit, "curproc"), most: numberOf(rlimit, "maxpid") },
    pods: listOf(pods).map(describePod),
    system: listOf(systemContainers).map(describeNamed),
  };
}

function describeFileSystem(value: unknown): FileSystemUse {
  return {
    availableBytes: numberOf(value, "availableBytes"),
    capacityBytes: numberOf(value, "capacityBytes"),
    inodesFree: numberOf(value, "inodesFree"),
    inodes: numberOf(value, "inodes"),
  };
}

function describePod(value: unknown): PodCgroupUse {
  const { podRef, containers, process_stats } = fieldsOf(value);
  const { cpuNanoCores, memoryBytes } = describeNamed(value);
  const pids = numberOf(process_stats, "process_count");
  return {
    uid: textOf(podRef, "uid"),
    cpuNanoCores,
    memoryBytes,
    pids,
    containers: listOf(containers).map(describeNamed),
  };
}

function describeNamed(value: unknown): NamedUse {
  const { cpu, memory } = fieldsOf(value);
  return {
    name: textOf(value, "name"),
    cpuNanoCores: numberOf(cpu, "usageNanoCores"),
    memoryBytes: numberOf(memory, "workingSetBytes"),
  };
}

/** The thresholds of the page `/configz` of a kubelet. */
export function readThresholds(configz: unknown): UsageThreshold[] {
  const { kubeletconfig } = fieldsOf(configz);
  const texts = (field: string) => {
    const entries = Object.entries(fieldsOf(fieldsOf(kubeletconfig)[field]));
    return Object.fromEntries(entries.flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : [])));
  };
  const { thresholds } = parseEvictionThresholds({
    evictionHard: texts("evictionHard"),
    evictionSoft: texts("evictionSoft"),
    evictionSoftGracePeriod: texts("evictionSoftGracePeriod"),
    evictionMinimumReclaim: {},
    enforceNodeAllocatable: [],
  });
  return thresholds.map(({ signal, value, gracePeriodMs }) => ({
    signal,
    amount: value.kind === "quantity" ? Number(quantityValue(value.quantity)) : undefined,
    share: value.kind === "share" ? value.share : undefined,
    isHard: gracePeriodMs === 0,
  }));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function numberOf(value: unknown, key: string): number | undefined {
  const found = fieldsOf(value)[key];
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

function textOf(value: unknown, key: string): string {
  const found = fieldsOf(value)[key];
  return typeof found === "string" ? found : "";
}
