import { isApiError } from "../../api/api-error.ts";
import { assertNever } from "../../base/assert.ts";
import { codeOf } from "../../base/errors.ts";
import { explainByApi, explainNodeByApi, explainPending, withCluster } from "../../cluster/explain/explain-by-api.ts";
import { explainByFiles, explainByNode, explainNodeItself } from "../../cluster/explain/explain-by-node.ts";
import { type ExplainedKind, explainObjectByApi } from "../../cluster/explain/explain-object-by-api.ts";
import { decisionsUnknown, readDecisions } from "../../cluster/explain/read-decisions.ts";
import { readPodPlaces } from "../../cluster/supervisor/pod-places.ts";
import { computeStateLayout, type StateLayout } from "../../cluster/supervisor/state-layout.ts";
import { isInTrouble } from "../../explain/explain-pod.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { addDecisions } from "../../explain/pod-decisions.ts";
import { networkProbes } from "../../host/linux/network/network-probes.ts";
import { findKubeconfig } from "../find-kubeconfig.ts";
import { formatOutput, type OutputFormat } from "../format-output.ts";
import type { AskedExplanation } from "./explain-command.ts";
import {
  formatNodeExplanation,
  formatObjectExplanation,
  formatPending,
  formatPodExplanation,
} from "./format-explanation.ts";

/** Where the answer comes from, and how it is printed. */
interface ExplainOptions {
  /** A cluster; undefined for the node of `nodelet up` on this machine. */
  readonly kubeconfig: string | undefined;
  readonly layout: StateLayout;
  readonly output: OutputFormat | undefined;
  /** For a pod: only what happened in this last time. Default: all. */
  readonly sinceMs?: number | undefined;
}

/** Explains a pod; 1 where nobody knows it. */
async function explainPodCommand(
  asked: { readonly namespace: string; readonly name: string; readonly node?: string | undefined },
  options: ExplainOptions,
): Promise<number> {
  const { kubeconfig } = options;
  const whole = await (kubeconfig === undefined
    ? explainHere(asked, options.layout)
    : withCluster(kubeconfig, async (client) => await explainByApi(client, asked)));
  const now = Date.now();
  const since = now - (options.sinceMs ?? now);
  const found = { ...whole, steps: whole.steps.filter(({ at }) => Date.parse(at) >= since) };
  print(found, options, () => formatPodExplanation(found, now));
  if (found.state !== "Gone" || whole.steps.length > 0) return 0;
  console.error(
    `Nobody knows of a pod ${JSON.stringify(`${asked.namespace}/${asked.name}`)}. Is it in another namespace?`,
  );
  return 1;
}

/** Explains a node: that of this machine, or one of a cluster. */
async function explainNodeCommand(name: string | undefined, options: ExplainOptions): Promise<number> {
  const { kubeconfig, layout } = options;
  const found = await (kubeconfig === undefined
    ? explainNodeItself(layout.agentSocket)
    : withCluster(kubeconfig, async (client) => await explainNodeByApi(client, name ?? "")));
  print(found, options, () => formatNodeExplanation(found, Date.now()));
  return 0;
}

/** Explains all pods that wait for something, those that no node has among them. */
async function explainPendingCommand(namespace: string | undefined, options: ExplainOptions): Promise<number> {
  const found = await readPending(namespace, options);
  print(found, options, () => formatPending(found, Date.now()));
  return 0;
}

/** Explains a service, a job or a cron job; 1 where there is none of that name. */
async function explainObjectCommand(
  kind: ExplainedKind,
  asked: { readonly namespace: string; readonly name: string },
  options: ExplainOptions,
): Promise<number> {
  const { kubeconfig, layout } = options;
  // The pods of another cluster are not reached from here, or are others with the same addresses.
  const probes = kubeconfig === undefined ? networkProbes : undefined;
  const { signal } = new AbortController();
  try {
    const found = await withCluster(kubeconfig ?? layout.kubeconfig, async (client) => {
      return await explainObjectByApi({ client, probes, signal }, kind, asked);
    });
    print(found, options, () => formatObjectExplanation(found, Date.now()));
    return 0;
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
    const { namespace, name } = asked;
    console.error(`There is no ${kind} ${JSON.stringify(`${namespace}/${name}`)}. Is it in another namespace?`);
    return 1;
  }
}

/**
 * Asks the agent of this machine, and the API for what the control plane decided; also for the pod where the agent does
 * not have it: it may wait for a node. Where no agent runs, its files are read.
 */
async function explainHere(asked: { namespace: string; name: string }, layout: StateLayout): Promise<PodExplanation> {
  const onNode = await explainByNode(layout.agentSocket, asked).catch(async (error: unknown) => {
    if (codeOf(error) !== "not-running") throw error;
    const { kubeletRoot } = await readPodPlaces(layout.directory);
    return await explainByFiles(kubeletRoot, asked);
  });
  const decide = async () => await withCluster(layout.kubeconfig, (client) => readDecisions(client, asked));
  const withDecisions = async () => addDecisions(onNode, await decide().catch(decisionsUnknown));
  if (onNode.state !== "Gone") return await withDecisions();
  const inApi = await withCluster(layout.kubeconfig, async (client) => await explainByApi(client, asked)).catch(
    () => undefined,
  );
  const isBetter = inApi !== undefined && (inApi.state !== "Gone" || onNode.steps.length === 0);
  return isBetter ? inApi : await withDecisions();
}

/** The pods of the API, each in the words of the node where it has them. */
async function readPending(namespace: string | undefined, options: ExplainOptions): Promise<PodExplanation[]> {
  const { kubeconfig, layout } = options;
  const isWanted = ({ pod }: PodExplanation) => namespace === undefined || pod.namespace === namespace;
  if (kubeconfig !== undefined) return await withCluster(kubeconfig, (client) => explainPending(client, namespace));
  const onNode = (await explainNodeItself(layout.agentSocket)).troubles.filter(isInTrouble).filter(isWanted);
  const known = new Set(onNode.map(({ pod }) => `${pod.namespace}/${pod.name}`));
  const inApi = await withCluster(layout.kubeconfig, (client) => explainPending(client, namespace)).catch(() => []);
  return [...onNode, ...inApi.filter(({ pod }) => pod.node === "" && !known.has(`${pod.namespace}/${pod.name}`))];
}

function print(found: object, { output }: ExplainOptions, format: () => string): void {
  console.log(output === undefined ? format() : formatOutput(found, output));
}

/** Runs `nodelet explain`. `asPlugin` is for kubectl, whose users mean the cluster that kubectl would ask. */
export async function explain(asked: AskedExplanation, { asPlugin }: { asPlugin: boolean }): Promise<number> {
  const { output, kubeconfig: given, stateDir, namespace, since, node } = asked.options;
  const kubeconfig = asPlugin ? findKubeconfig(given, process.env) : given;
  const options = { kubeconfig, layout: computeStateLayout(stateDir), output, sinceMs: since };
  switch (asked.about) {
    case "pod":
      return await explainPodCommand({ namespace: namespace ?? "default", name: asked.name, node }, options);
    case "node":
      return await explainNodeCommand(asked.name, options);
    case "pending":
      return await explainPendingCommand(namespace, options);
    case "service":
    case "job":
    case "cronjob":
      return await explainObjectCommand(asked.about, { namespace: namespace ?? "default", name: asked.name }, options);
    default:
      return assertNever(asked, "what is asked for");
  }
}
