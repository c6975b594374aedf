import type { EndpointSlice, Event } from "../../api/gen/types.ts";
import {
  CRON_JOBS,
  ENDPOINT_SLICES,
  EVENTS,
  JOBS,
  type KubeResource,
  PODS,
  SERVICES,
} from "../../api/kube-resource.ts";
import { assertNever } from "../../base/assert.ts";
import { explainCronJob } from "../../explain/explain-cron-job.ts";
import { explainJob } from "../../explain/explain-job.ts";
import type { ObjectExplanation } from "../../explain/explain-object.ts";
import { type ClosedPort, explainService } from "../../explain/explain-service.ts";
import type { ProbeClient } from "../../host/probe-port.ts";
import type { KubeClient, NamespacedName } from "../../kube/port.ts";

/** The kinds beside pods that are explained, as the command names them. */
export type ExplainedKind = "service" | "job" | "cronjob";

interface ExplainMeans {
  readonly client: Pick<KubeClient, "get" | "list">;
  /** Calls ports of pods, where this machine reaches them; undefined where it may not. */
  readonly probes: Pick<ProbeClient, "tcp"> | undefined;
  readonly signal: AbortSignal;
}

const CALL_TIMEOUT_MS = 1_000;
/** Ports of more pods are not called. */
const MAX_CALLED = 10;

/** Explains an object by the API server. Rejects as the client does: with `NotFound` where there is no such object. */
export async function explainObjectByApi(
  means: ExplainMeans,
  kind: ExplainedKind,
  asked: NamespacedName,
): Promise<ObjectExplanation> {
  const { client } = means;
  const all = async <T>(resource: KubeResource<T>): Promise<readonly T[]> => {
    return (await client.list(resource, { namespace: asked.namespace })).items;
  };
  switch (kind) {
    case "service":
      return await explainServiceByApi(means, asked);
    case "job": {
      const [job, pods, events] = await Promise.all([
        client.get(JOBS, asked),
        all(PODS),
        eventsOf(client, "Job", asked),
      ]);
      return explainJob({ job, pods, events });
    }
    case "cronjob": {
      const [cronJob, jobs, events] = await Promise.all([
        client.get(CRON_JOBS, asked),
        all(JOBS),
        eventsOf(client, "CronJob", asked),
      ]);
      return explainCronJob({ cronJob, jobs, events });
    }
    default:
      return assertNever(kind, "kind");
  }
}

async function eventsOf(
  client: Pick<KubeClient, "list">,
  kind: string,
  { namespace, name }: NamespacedName,
): Promise<readonly Event[]> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  return (await client.list(EVENTS, { namespace, fieldSelector })).items;
}

async function explainServiceByApi(means: ExplainMeans, asked: NamespacedName): Promise<ObjectExplanation> {
  const { client } = means;
  const { namespace, name } = asked;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const [service, pods, slices] = await Promise.all([
    client.get(SERVICES, asked),
    client.list(PODS, { namespace }),
    client.list(ENDPOINT_SLICES, { namespace, labelSelector }),
  ]);
  const closed = await findClosedPorts(means, slices.items);
  return explainService({ service, pods: pods.items, slices: slices.items, closed });
}

/** Calls the ports of ready endpoints. What does not answer may be kept away by a network policy, and is not told. */
async function findClosedPorts(
  { probes, signal }: ExplainMeans,
  slices: readonly EndpointSlice[],
): Promise<ClosedPort[]> {
  if (probes === undefined) return [];
  const targets = slices.flatMap(({ endpoints = [], ports = [] }) =>
    endpoints
      .filter(({ conditions, targetRef }) => conditions?.ready !== false && targetRef?.kind === "Pod")
      .flatMap(({ addresses, targetRef }) =>
        ports.flatMap(({ port, protocol = "TCP" }) => {
          const [host] = addresses;
          if (port === undefined || protocol !== "TCP" || host === undefined) return [];
          return [{ host, port, pod: targetRef?.name ?? "" }];
        }),
      ),
  );
  const called = targets.slice(0, MAX_CALLED).map(async ({ host, port, pod }) => {
    const outcome = await probes.tcp({ host, port, timeoutMs: CALL_TIMEOUT_MS }, signal);
    const isRefused = outcome.kind === "failed" && outcome.failure.reason === "refused";
    return isRefused ? [{ pod, port }] : [];
  });
  return (await Promise.all(called)).flat();
}
