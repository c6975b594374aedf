import { type KubeObject, typed } from "../../api/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { AskedObjects, ComputedObjects } from "../ports/computed-objects.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { nodeMetricsOf, podMetricsOf } from "./metrics-objects.ts";
import type { ToldNodeUsage } from "./node-usage.ts";
import type { ReadUsage } from "./usage-cache.ts";

interface ResourceMetricsDeps {
  readonly reader: ResourceReader;
  readonly readUsage: ReadUsage;
  readonly clock: Pick<Clock, "now">;
}

/**
 * The resources of `metrics.k8s.io` by their names, as metrics-server has them, made of what the nodes tell at this
 * moment. Only nodes that have something to tell of what is asked for are called.
 */
export function createResourceMetrics(deps: ResourceMetricsDeps): ReadonlyMap<string, ComputedObjects> {
  const { reader, clock } = deps;
  const nodes: ComputedObjects = {
    async read(asked, signal) {
      const found = storedOf(reader, "nodes", asked).map((object) => typed("Node", object));
      const usages = await readUsages(
        deps,
        found.map(({ metadata }) => metadata.name ?? ""),
        signal,
      );
      return definedOf(found.map((node) => nodeMetricsOf(node, usages.get(node.metadata.name ?? ""), clock.now())));
    },
  };
  const pods: ComputedObjects = {
    async read(asked, signal) {
      const found = storedOf(reader, "pods", asked).map((object) => typed("Pod", object));
      const bound = found.filter(({ spec, status }) => spec?.nodeName && status?.phase === "Running");
      const usages = await readUsages(
        deps,
        bound.map(({ spec }) => spec?.nodeName ?? ""),
        signal,
      );
      return definedOf(bound.map((pod) => podMetricsOf(pod, usages.get(pod.spec?.nodeName ?? ""), clock.now())));
    },
  };
  return new Map([
    ["nodes.metrics.k8s.io", nodes],
    ["pods.metrics.k8s.io", pods],
  ]);
}

function storedOf(reader: ResourceReader, resource: string, { namespace, name }: AskedObjects): readonly KubeObject[] {
  const isOne = name !== undefined && (namespace !== "" || resource === "nodes");
  if (!isOne) return reader.list(resource, namespace === "" ? undefined : namespace);
  const object = reader.get({ resource, namespace, name });
  return object === undefined ? [] : [object];
}

async function readUsages(
  { readUsage }: ResourceMetricsDeps,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ToldNodeUsage | undefined>> {
  const each = [...new Set(names)].map(async (name) => [name, await readUsage(name, signal)] as const);
  return new Map(await Promise.all(each));
}

const definedOf = (objects: ReadonlyArray<KubeObject | undefined>) => objects.filter((object) => object !== undefined);
