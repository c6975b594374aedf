import type { Column } from "../../ports/resource-kind.ts";
import * as access from "./access-columns.ts";
import { API_SERVICE_COLUMNS } from "./api-service-columns.ts";
import { HORIZONTAL_POD_AUTOSCALER_COLUMNS } from "./autoscaling-columns.ts";
import * as cluster from "./cluster-columns.ts";
import { CREATED_AT, fullColumn, NAME } from "./column.ts";
import * as device from "./device-columns.ts";
import { EVENT_COLUMNS } from "./event-columns.ts";
import { FLOW_SCHEMA_COLUMNS, PRIORITY_LEVEL_COLUMNS } from "./flow-control-columns.ts";
import { METRICS_COLUMNS } from "./metrics-columns.ts";
import * as networking from "./networking-columns.ts";
import { NODE_COLUMNS } from "./node-columns.ts";
import { POD_COLUMNS } from "./pod-columns.ts";
import * as storage from "./storage-columns.ts";
import * as workload from "./workload-columns.ts";

/** The columns of kinds without columns of their own: the name and the time of creation. */
export const DEFAULT_COLUMNS: readonly Column[] = [NAME, CREATED_AT].map((row) => fullColumn(row, (object) => object));

/**
 * The columns by resource (`pods`, `deployments.apps`). Names, types, order and cells are upstream's
 * (pkg/printers/internalversion/printers.go); the descriptions are ours. Where upstream cuts a cell unless the output
 * is wide, this server never does: it always prints wide, and kubectl leaves out columns.
 */
export const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  componentstatuses: cluster.COMPONENT_STATUS_COLUMNS,
  configmaps: cluster.CONFIG_MAP_COLUMNS,
  endpoints: networking.ENDPOINTS_COLUMNS,
  events: EVENT_COLUMNS,
  namespaces: cluster.NAMESPACE_COLUMNS,
  nodes: NODE_COLUMNS,
  persistentvolumeclaims: storage.PERSISTENT_VOLUME_CLAIM_COLUMNS,
  persistentvolumes: storage.PERSISTENT_VOLUME_COLUMNS,
  pods: POD_COLUMNS,
  podtemplates: workload.POD_TEMPLATE_COLUMNS,
  replicationcontrollers: workload.REPLICATION_CONTROLLER_COLUMNS,
  resourcequotas: cluster.RESOURCE_QUOTA_COLUMNS,
  secrets: cluster.SECRET_COLUMNS,
  serviceaccounts: access.SERVICE_ACCOUNT_COLUMNS,
  services: networking.SERVICE_COLUMNS,

  "mutatingadmissionpolicies.admissionregistration.k8s.io": cluster.MUTATING_ADMISSION_POLICY_COLUMNS,
  "mutatingadmissionpolicybindings.admissionregistration.k8s.io": cluster.MUTATING_ADMISSION_POLICY_BINDING_COLUMNS,
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": cluster.MUTATING_WEBHOOK_CONFIGURATION_COLUMNS,
  "validatingadmissionpolicies.admissionregistration.k8s.io": cluster.VALIDATING_ADMISSION_POLICY_COLUMNS,
  "validatingadmissionpolicybindings.admissionregistration.k8s.io": cluster.VALIDATING_ADMISSION_POLICY_BINDING_COLUMNS,
  "validatingwebhookconfigurations.admissionregistration.k8s.io": cluster.VALIDATING_WEBHOOK_CONFIGURATION_COLUMNS,

  "apiservices.apiregistration.k8s.io": API_SERVICE_COLUMNS,

  "controllerrevisions.apps": workload.CONTROLLER_REVISION_COLUMNS,
  "daemonsets.apps": workload.DAEMON_SET_COLUMNS,
  "deployments.apps": workload.DEPLOYMENT_COLUMNS,
  "replicasets.apps": workload.REPLICA_SET_COLUMNS,
  "statefulsets.apps": workload.STATEFUL_SET_COLUMNS,

  "horizontalpodautoscalers.autoscaling": HORIZONTAL_POD_AUTOSCALER_COLUMNS,

  "cronjobs.batch": workload.CRON_JOB_COLUMNS,
  "jobs.batch": workload.JOB_COLUMNS,

  "certificatesigningrequests.certificates.k8s.io": access.CERTIFICATE_SIGNING_REQUEST_COLUMNS,
  "clustertrustbundles.certificates.k8s.io": access.CLUSTER_TRUST_BUNDLE_COLUMNS,
  "podcertificaterequests.certificates.k8s.io": access.POD_CERTIFICATE_REQUEST_COLUMNS,

  "leases.coordination.k8s.io": cluster.LEASE_COLUMNS,

  "endpointslices.discovery.k8s.io": networking.ENDPOINT_SLICE_COLUMNS,

  "events.events.k8s.io": EVENT_COLUMNS,

  "flowschemas.flowcontrol.apiserver.k8s.io": FLOW_SCHEMA_COLUMNS,
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": PRIORITY_LEVEL_COLUMNS,

  "ingressclasses.networking.k8s.io": networking.INGRESS_CLASS_COLUMNS,
  "ingresses.networking.k8s.io": networking.INGRESS_COLUMNS,
  "ipaddresses.networking.k8s.io": networking.IP_ADDRESS_COLUMNS,
  "networkpolicies.networking.k8s.io": networking.NETWORK_POLICY_COLUMNS,
  "servicecidrs.networking.k8s.io": networking.SERVICE_CIDR_COLUMNS,

  "nodes.metrics.k8s.io": METRICS_COLUMNS,
  "pods.metrics.k8s.io": METRICS_COLUMNS,

  "runtimeclasses.node.k8s.io": cluster.RUNTIME_CLASS_COLUMNS,

  "poddisruptionbudgets.policy": workload.POD_DISRUPTION_BUDGET_COLUMNS,

  "clusterrolebindings.rbac.authorization.k8s.io": access.CLUSTER_ROLE_BINDING_COLUMNS,
  "rolebindings.rbac.authorization.k8s.io": access.ROLE_BINDING_COLUMNS,

  "deviceclasses.resource.k8s.io": device.DEVICE_CLASS_COLUMNS,
  "resourceclaims.resource.k8s.io": device.RESOURCE_CLAIM_COLUMNS,
  "resourceclaimtemplates.resource.k8s.io": device.RESOURCE_CLAIM_TEMPLATE_COLUMNS,
  "resourceslices.resource.k8s.io": device.RESOURCE_SLICE_COLUMNS,

  "priorityclasses.scheduling.k8s.io": cluster.PRIORITY_CLASS_COLUMNS,

  "csidrivers.storage.k8s.io": storage.CSI_DRIVER_COLUMNS,
  "csistoragecapacities.storage.k8s.io": storage.CSI_STORAGE_CAPACITY_COLUMNS,
  "csinodes.storage.k8s.io": storage.CSI_NODE_COLUMNS,
  "storageclasses.storage.k8s.io": storage.STORAGE_CLASS_COLUMNS,
  "volumeattachments.storage.k8s.io": storage.VOLUME_ATTACHMENT_COLUMNS,
  "volumeattributesclasses.storage.k8s.io": storage.VOLUME_ATTRIBUTES_CLASS_COLUMNS,
};
