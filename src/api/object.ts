import type * as types from "./gen/types.ts";

/** Any object of the Kubernetes API, as it travels and is stored. Treated as frozen: a change makes a new object. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<types.ObjectMeta>;
  readonly [field: string]: unknown;
}

/** The kinds whose objects our own code looks into, by kind; add a line when another is needed. */
export interface TypedKinds {
  APIService: types.APIService;
  Binding: types.Binding;
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
  CustomResourceDefinition: types.CustomResourceDefinition;
  DaemonSet: types.DaemonSet;
  Deployment: types.Deployment;
  DeviceClass: types.DeviceClass;
  Endpoints: types.Endpoints;
  EndpointSlice: types.EndpointSlice;
  Event: types.Event;
  FlowSchema: types.FlowSchema;
  HorizontalPodAutoscaler: types.HorizontalPodAutoscaler;
  Ingress: types.Ingress;
  IPAddress: types.IPAddress;
  IngressClass: types.IngressClass;
  Job: types.Job;
  Lease: types.Lease;
  LimitRange: types.LimitRange;
  LocalSubjectAccessReview: types.LocalSubjectAccessReview;
  MutatingAdmissionPolicy: types.MutatingAdmissionPolicy;
  MutatingAdmissionPolicyBinding: types.MutatingAdmissionPolicyBinding;
  MutatingWebhookConfiguration: types.MutatingWebhookConfiguration;
  Namespace: types.Namespace;
  NetworkPolicy: types.NetworkPolicy;
  Node: types.Node;
  PersistentVolume: types.PersistentVolume;
  PersistentVolumeClaim: types.PersistentVolumeClaim;
  Pod: types.Pod;
  PodCertificateRequest: types.PodCertificateRequest;
  PodDisruptionBudget: types.PodDisruptionBudget;
  PodTemplate: types.PodTemplate;
  PriorityClass: types.PriorityClass;
  PriorityLevelConfiguration: types.PriorityLevelConfiguration;
  ReplicaSet: types.ReplicaSet;
  ReplicationController: types.ReplicationController;
  ResourceClaim: types.ResourceResourceClaim;
  ResourceClaimTemplate: types.ResourceClaimTemplate;
  ResourceQuota: types.ResourceQuota;
  ResourceSlice: types.ResourceSlice;
  Role: types.Role;
  RoleBinding: types.RoleBinding;
  RuntimeClass: types.RuntimeClass;
  Secret: types.Secret;
  SelfSubjectAccessReview: types.SelfSubjectAccessReview;
  SelfSubjectReview: types.SelfSubjectReview;
  SelfSubjectRulesReview: types.SelfSubjectRulesReview;
  Scale: types.Scale;
  Service: types.Service;
  ServiceAccount: types.ServiceAccount;
  ServiceCIDR: types.ServiceCIDR;
  StatefulSet: types.StatefulSet;
  StorageClass: types.StorageClass;
  SubjectAccessReview: types.SubjectAccessReview;
  TokenRequest: types.TokenRequest;
  TokenReview: types.TokenReview;
  ValidatingAdmissionPolicy: types.ValidatingAdmissionPolicy;
  ValidatingAdmissionPolicyBinding: types.ValidatingAdmissionPolicyBinding;
  ValidatingWebhookConfiguration: types.ValidatingWebhookConfiguration;
  VolumeAttachment: types.VolumeAttachment;
  VolumeAttributesClass: types.VolumeAttributesClass;
}

/** An object whose fields are known. */
export type ObjectOf<Kind extends keyof TypedKinds> = KubeObject & TypedKinds[Kind];

/**
 * Returns the object as its generated type; throws for one of another kind, which is a programmer's error. It is only
 * for objects that came through the API server. The server decoded them by that very type's table, which established
 * their shape.
 */
export function typed<Kind extends keyof TypedKinds>(kind: Kind, object: KubeObject): ObjectOf<Kind> {
  if (object.kind !== kind) throw new TypeError(`expected an object of kind ${kind}, got ${object.kind}`);
  return object as ObjectOf<Kind>;
}

/** The way back: a typed value as an object. */
export function untyped(object: TypedKinds[keyof TypedKinds]): KubeObject {
  return object as unknown as KubeObject;
}

/** True for an object that is not stored yet: stored versions have a revision. Some rules hold for creation only. */
export function isNew({ metadata }: KubeObject): boolean {
  return (metadata.resourceVersion ?? "") === "";
}

/** True for a JSON object (not null, not a list). */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for what has the three fields that every object has. */
export function isKubeObject(value: unknown): value is KubeObject {
  return (
    isRecord(value) &&
    typeof value["apiVersion"] === "string" &&
    typeof value["kind"] === "string" &&
    isRecord(value["metadata"])
  );
}

/** The target of an API path: `pods` of `""`/`v1`, in a namespace or (undefined) cluster-wide or across all. */
interface ResourceRef {
  /** `""` for core. */
  readonly group: string;
  readonly version: string;
  /** The plural, `pods`. */
  readonly resource: string;
  readonly namespace?: string | undefined;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: Pick<ResourceRef, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}
