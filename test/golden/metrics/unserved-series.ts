/** Series of a Go kubelet that nodelet does not serve. */
interface UnservedSeries {
  readonly page: string;
  /** Whole names; one that ends in `*` stands for all that begin so. */
  readonly names: readonly string[];
  readonly reason: string;
}

const OF_API_SERVERS =
  "of libraries of API servers that happen to be linked into a kubelet: nothing there happens in one";
const OF_THE_LIBRARY = "about the library that counts, and not about what it counts";
const NO_QUEUES = "of client-go's queues and caches, of which there are none here";
const NO_RECONSTRUCTION = "volumes are not reconstructed after a start: what is on the disk is what there is";
const NO_SELINUX_CHECKS = "SELinux contexts of volumes are not compared between pods";
const NO_EXEC_SERIES = "plugins for the client's own credentials are logged, and not counted";
const NO_TRANSPORT_CACHE = "clients have connections of their own, and no cache of transports";

/** Each with why; `series.test.ts` makes the table of it, and sees that it is true. */
export const UNSERVED: readonly UnservedSeries[] = [
  {
    page: "/metrics",
    names: ["aggregator_discovery_*", "apiserver_*"],
    reason: OF_API_SERVERS,
  },
  {
    page: "/metrics",
    names: [
      ...["cardinality_enforcement_unexpected_categorizations_total", "disabled_metrics_total"],
      ...["hidden_metrics_total", "registered_metrics_total"],
    ],
    reason: OF_THE_LIBRARY,
  },
  {
    page: "/metrics",
    names: ["force_cleaned_failed_volume_operation*", "reconstruct_volume_operations_*"],
    reason: NO_RECONSTRUCTION,
  },
  { page: "/metrics", names: ["informer_*", "workqueue_*"], reason: NO_QUEUES },
  {
    page: "/metrics",
    names: ["leader_election_*", "running_managed_controllers"],
    reason: "listed for all of Kubernetes' programs: a kubelet elects nobody and runs no controllers",
  },
  {
    page: "/metrics",
    names: ["kubelet_container_log_filesystem_used_bytes"],
    reason: "a walk through all logs for each page; `/stats/summary` has it, of a walk that is remembered",
  },
  {
    page: "/metrics",
    names: ["kubelet_cri_losing_support"],
    reason: "no runtime loses its support: RuntimeConfig is not needed of one",
  },
  {
    page: "/metrics",
    names: ["kubelet_evented_pleg_connection_latency_seconds"],
    reason: "events are hints here, which say nothing of when they were made",
  },
  {
    page: "/metrics",
    names: ["kubelet_imagemanager_inmemory_*"],
    reason: "all records of pulls are in memory: there is no cache that could be full",
  },
  {
    page: "/metrics",
    names: ["kubelet_started_host_process_containers_*"],
    reason: "of Windows",
  },
  {
    page: "/metrics",
    names: ["rest_client_dns_resolution_duration_seconds", "rest_client_exec_plugin_policy_call_total"],
    reason: "listed, but registered by no kubelet",
  },
  {
    page: "/metrics",
    names: [
      ...["rest_client_exec_plugin_call_total", "rest_client_exec_plugin_certificate_rotation_age"],
      "rest_client_exec_plugin_ttl_seconds",
    ],
    reason: NO_EXEC_SERIES,
  },
  { page: "/metrics", names: ["rest_client_transport_*"], reason: NO_TRANSPORT_CACHE },
  { page: "/metrics", names: ["volume_manager_selinux_*"], reason: NO_SELINUX_CHECKS },
  {
    page: "/metrics",
    names: ["volume_operation_total_seconds"],
    reason:
      "`storage_operation_duration_seconds` of `volume_mount` is the whole: nothing waits before it for another loop",
  },
  {
    page: "/metrics/cadvisor",
    names: ["container_cpu_load_average_10s", "container_cpu_load_d_average_10s", "container_tasks_state"],
    reason: "0 of every container in a kubelet, which does not start the part of cAdvisor that counts them",
  },
];
