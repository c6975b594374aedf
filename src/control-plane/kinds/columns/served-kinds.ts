import type * as types from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";

/** The built-in kinds that columns and strategies look into, by kind; the events of events.k8s.io are not among them. */
export interface ServedKinds {
  CertificateSigningRequest: types.CertificateSigningRequest;
  ClusterRole: types.ClusterRole;
  ClusterRoleBinding: types.ClusterRoleBinding;
  ComponentStatus: types.ComponentStatus;
  ConfigMap: types.ConfigMap;
  ControllerRevision: types.ControllerRevision;
  CronJob: types.CronJob;
  CSIDriver: types.CSIDriver;
  CSINode: types.CSINode;
  CSIStorageCapacity: types.CSIStorageCapacity;
  DaemonSet: types.DaemonSet;
  Deployment: types.Deployment;
  Endpoints: types.Endpoints;
  EndpointSlice: types.EndpointSlice;
  HorizontalPodAutoscaler: types.HorizontalPodAutoscaler;
  Ingress: types.Ingress;
  IngressClass: types.IngressClass;
  Job: types.Job;
  Lease: types.Lease;
  MutatingAdmissionPolicy: types.MutatingAdmissionPolicy;
  MutatingAdmissionPolicyBinding: types.MutatingAdmissionPolicyBinding;
  MutatingWebhookConfiguration: types.MutatingWebhookConfiguration;
  Namespace: types.Namespace;
  NetworkPolicy: types.NetworkPolicy;
  Node: types.Node;
  PersistentVolume: types.PersistentVolume;
  PersistentVolumeClaim: types.PersistentVolumeClaim;
  Pod: types.Pod;
  PodDisruptionBudget: types.PodDisruptionBudget;
  PodTemplate: types.PodTemplate;
  PriorityClass: types.PriorityClass;
  ReplicaSet: types.ReplicaSet;
  ReplicationController: types.ReplicationController;
  ResourceQuota: types.ResourceQuota;
  Role: types.Role;
  RoleBinding: types.RoleBinding;
  RuntimeClass: types.RuntimeClass;
  Secret: types.Secret;
  Service: types.Service;
  ServiceAccount: types.ServiceAccount;
  StatefulSet: types.StatefulSet;
  StorageClass: types.StorageClass;
  ValidatingAdmissionPolicy: types.ValidatingAdmissionPolicy;
  ValidatingAdmissionPolicyBinding: types.ValidatingAdmissionPolicyBinding;
  ValidatingWebhookConfiguration: types.ValidatingWebhookConfiguration;
  VolumeAttachment: types.VolumeAttachment;
  VolumeAttributesClass: types.VolumeAttributesClass;
}

export type ServedKind = keyof ServedKinds;

/** An object whose fields are known. */
export type ObjectOf<Kind extends ServedKind> = KubeObject & ServedKinds[Kind];

/**
 * True for an object of the kind. That its fields are the type's has been established before: it was decoded by that
 * very type's table when it came in.
 */
function isOfKind<Kind extends ServedKind>(kind: Kind, object: KubeObject): object is ObjectOf<Kind> {
  return object.kind === kind;
}

/** The same object with its fields typed; throws when it is of another kind, which is a programmer's error. */
export function objectOf<Kind extends ServedKind>(kind: Kind, object: KubeObject): ObjectOf<Kind> {
  if (!isOfKind(kind, object)) throw new TypeError(`expected an object of kind ${kind}, got ${object.kind}`);
  return object;
}
