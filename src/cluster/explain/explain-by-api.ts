import { isApiError } from "../../api/api-error.ts";
import type { Event, Pod } from "../../api/gen/types.ts";
import { EVENTS, type KubeResource, NODES, PODS } from "../../api/kube-resource.ts";
import { parseTime } from "../../base/clock.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import type { TimelineRecord } from "../../base/timeline.ts";
import type { NodeExplanation } from "../../explain/explain-node.ts";
import { explainPod, isInTrouble } from "../../explain/explain-pod.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { addDecisions } from "../../explain/pod-decisions.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { linuxPrograms } from "../../host/linux/system/linux-programs.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import { createHttpKubeClient } from "../../kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../../kube/kubeconfig.ts";
import type { KubeClient } from "../../kube/port.ts";
import { decodeNodeExplanation, decodePodExplanation } from "./decode-explanation.ts";
import { readDecisions } from "./read-decisions.ts";
import { explainRefusals } from "./refused-creations.ts";

const TIMEOUT_MS = 15_000;
/** The nodes that are asked about a pod that the API server does not have any more. */
const MAX_ASKED_NODES = 100;

/** Which pod is asked for. `node` is for one that is gone: only this node is asked about it. */
interface AskedPod {
  readonly namespace: string;
  readonly name: string;
  readonly node?: string | undefined;
}

/** Does something with a client of the cluster that the kubeconfig names. Rejects as the client does. */
export async function withCluster<T>(kubeconfig: string, use: (client: KubeClient) => Promise<T>): Promise<T> {
  const connection = await readKubeconfig(kubeconfig, linuxFiles);
  const deps = { clock: systemClock, random: { next: () => Math.random() }, log: silentLog, programs: linuxPrograms };
  const limits = { qps: 0, burst: 0, timeoutMs: TIMEOUT_MS };
  const client = createHttpKubeClient({ ...deps, connection }, { userAgent: "nodelet-explain", ...limits });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/**
 * Explains a pod of a cluster: by its node, where that is a nodelet, else by its status and its events, with a word of
 * what is missing; and by what the control plane has decided. Rejects with `not-found` where nobody knows the pod.
 */
export async function explainByApi(client: KubeClient, asked: AskedPod): Promise<PodExplanation> {
  const [pod, decisions] = await Promise.all([findPod(client, asked), readDecisions(client, asked)]);
  const found = await (pod === undefined ? explainGone(client, asked) : explainPresent(client, asked, pod));
  const whole = addDecisions(found, decisions);
  if (whole.state !== "Gone" || whole.steps.length > 0) return whole;
  const refusals = await explainRefusals(client, asked.namespace).catch(() => []);
  const refused = refusals.find(({ pod: of }) => of.name === asked.name || `${of.name}-`.startsWith(`${asked.name}-`));
  if (refused !== undefined) return refused;
  const unasked = whole.gaps.length === 0 ? "" : `; ${whole.gaps.join("; ")}`;
  throw new CodedError("not-found", `nobody knows of a pod ${asked.namespace}/${asked.name}${unasked}`);
}

async function explainPresent(client: KubeClient, asked: AskedPod, pod: Pod): Promise<PodExplanation> {
  const node = pod.spec?.nodeName ?? "";
  const gaps: string[] = [];
  if (node !== "") {
    try {
      const found = await client.get(podOnNode(node, asked.namespace), asked);
      // The API server's pod tells more of what others do with it: who deletes it, which gates are closed.
      if (found.steps.length > 0 || found.state !== "Gone") return found;
    } catch (error) {
      gaps.push(`the node ${node} did not tell its decisions (${messageOf(error)})`);
    }
  }
  const records = await readEvents(client, asked).catch((error: unknown) => {
    gaps.push(`its events cannot be read (${messageOf(error)})`);
    return [];
  });
  return explainPod({ ...asked, pod, records, gaps });
}

/** Explains a node by its own words. */
export async function explainNodeByApi(client: KubeClient, node: string): Promise<NodeExplanation> {
  return await client.get(nodeItself(node), { namespace: "", name: "explain" });
}

/** Explains the pods that no node has, or that do not run there, in one namespace or in all (undefined). */
export async function explainPending(client: KubeClient, namespace: string | undefined): Promise<PodExplanation[]> {
  const { items } = await client.list(PODS, { namespace });
  const explained = items.map((pod) => {
    const { namespace: place = "", name = "" } = pod.metadata ?? {};
    return explainPod({ namespace: place, name, pod, records: [] });
  });
  const refused = await explainRefusals(client, namespace).catch(() => []);
  return [...explained.filter(isInTrouble), ...refused];
}

async function findPod(client: KubeClient, { namespace, name }: AskedPod): Promise<Pod | undefined> {
  try {
    return await client.get(PODS, { namespace, name });
  } catch (error) {
    if (isApiError(error) && error.reason === "NotFound") return undefined;
    throw error;
  }
}

/** Asks the nodes for a pod that is gone; the one that knows most of it answers. */
async function explainGone(client: KubeClient, asked: AskedPod): Promise<PodExplanation> {
  const nodes = asked.node === undefined ? await nodeNames(client) : [asked.node];
  const gaps: string[] = [];
  let best: PodExplanation | undefined;
  for (const node of nodes.slice(0, MAX_ASKED_NODES)) {
    try {
      const found = await client.get(podOnNode(node, asked.namespace), asked);
      if (found.steps.length > (best?.steps.length ?? 0)) best = found;
    } catch (error) {
      gaps.push(`the node ${node} did not tell its decisions (${messageOf(error)})`);
    }
  }
  if (best !== undefined) return { ...best, gaps: [...best.gaps, ...gaps] };
  const records = await readEvents(client, asked);
  return explainPod({ ...asked, pod: undefined, records, gaps });
}

async function nodeNames(client: KubeClient): Promise<string[]> {
  const { items } = await client.list(NODES);
  return items.flatMap(({ metadata }) => metadata?.name ?? []);
}

async function readEvents(client: KubeClient, { namespace, name }: AskedPod): Promise<TimelineRecord[]> {
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name}`;
  const { items } = await client.list(EVENTS, { namespace, fieldSelector });
  return items.map(recordOf).toSorted((a, b) => a.at - b.at);
}

function recordOf(event: Event): TimelineRecord {
  const { involvedObject, type, reason = "", message = "", count = 1, firstTimestamp, lastTimestamp } = event;
  const { namespace = "", name = "", uid = "", fieldPath = "" } = involvedObject;
  const times = [lastTimestamp, event.series?.lastObservedTime, event.eventTime, event.metadata.creationTimestamp];
  const at = times.map(parseTime).find((time) => time !== undefined) ?? 0;
  const container = /\{(.+)\}$/.exec(fieldPath)?.[1];
  return {
    pod: { namespace, name, uid },
    at,
    firstAt: parseTime(firstTimestamp) ?? at,
    count: event.series?.count ?? count,
    type: type === "Warning" ? "Warning" : "Normal",
    reason,
    message,
    ...(container !== undefined && { container }),
  };
}

/** The pages of a node's API, by way of the API server. What they answer is no object of Kubernetes. */
function podOnNode(node: string, namespace: string): KubeResource<PodExplanation> {
  const plural = `${nodePath(node)}/explain/pods/${encodeURIComponent(namespace)}`;
  return { group: "", version: "v1", plural, kind: "PodExplanation", namespaced: false, read: decodePodExplanation };
}

function nodeItself(node: string): KubeResource<NodeExplanation> {
  const read = decodeNodeExplanation;
  return { group: "", version: "v1", plural: nodePath(node), kind: "NodeExplanation", namespaced: false, read };
}

function nodePath(node: string): string {
  return `nodes/${encodeURIComponent(node)}/proxy`;
}
