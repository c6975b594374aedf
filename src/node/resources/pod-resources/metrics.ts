import type { Metrics } from "../../../base/metrics.ts";
import type { PodResourcesMethod, PodResourcesVersion } from "../../../pod-resources/port.ts";

interface PodResourcesMetrics {
  countCall(method: PodResourcesMethod, version: PodResourcesVersion): void;
  countError(method: PodResourcesMethod, version: PodResourcesVersion): void;
}

const SERVICE = "kubelet_pod_resources_endpoint";
const METHODS: Readonly<Record<PodResourcesMethod, string>> = {
  list: "List",
  get: "Get",
  get_allocatable: "GetAllocatableResources",
};

/** Declares upstream's series of the podresources API. */
export function declarePodResourcesMetrics(metrics: Metrics): PodResourcesMetrics {
  const counter = (name: string, help: string) =>
    metrics.counter(`${SERVICE}_${name}`, `${help} Broken down by server api version.`, ["server_api_version"]);
  const total = counter("requests_total", "Cumulative number of requests to the PodResource endpoint.");
  const requests = (method: PodResourcesMethod) =>
    counter(`requests_${method}`, `Number of requests to the PodResource ${METHODS[method]} endpoint.`);
  const errors = (method: PodResourcesMethod) =>
    counter(
      `errors_${method}`,
      `Number of requests to the PodResource ${METHODS[method]} endpoint which returned error.`,
    );
  const calls = { list: requests("list"), get: requests("get"), get_allocatable: requests("get_allocatable") };
  const failures = { list: errors("list"), get: errors("get"), get_allocatable: errors("get_allocatable") };
  return {
    countCall(method, server_api_version) {
      total.add({ server_api_version });
      // The first version counts its calls in the total only, as upstream.
      if (server_api_version === "v1") calls[method].add({ server_api_version });
    },
    countError: (method, server_api_version) => failures[method].add({ server_api_version }),
  };
}
