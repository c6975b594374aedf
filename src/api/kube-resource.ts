import type * as types from "./gen/types.ts";
import { isRecord } from "./object.ts";
import { shapeObject } from "./object-shape.ts";

/** A resource of the API as its clients address it, with the type of its objects. */
export interface KubeResource<T> {
  /** `""` for core. */
  readonly group: string;
  readonly version: string;
  /** `pods` */
  readonly plural: string;
  /** `Pod` */
  readonly kind: string;
  readonly namespaced: boolean;
  /**
   * Reads a server's answer as an object of the kind, and fills in its `apiVersion` and `kind` where a list left them
   * out. Throws a TypeError for another kind, and where a field is of another type than the kind's (see `shapeObject`): a
   * server that lies must not get further than this. The value is the reader's own from then on.
   */
  read(value: unknown): T;
}

type ResourceName = Omit<KubeResource<unknown>, "read">;

/** `type`: the kind's name among all types, where another group has that name too. */
const defineResource = <T>(name: ResourceName, type: string = name.kind): KubeResource<T> => ({
  ...name,
  read(value) {
    const object = readKind(name, value);
    const misfit = findLongName(object) ?? shapeObject(type, object);
    if (misfit !== undefined) throw new TypeError(`${name.kind}: ${misfit}`);
    return object as T;
  },
});

/** Reads nothing but the kind. Throws a TypeError for another one. */
function readKind({ group, version, kind: expected }: ResourceName, value: unknown): object {
  if (!isRecord(value)) throw new TypeError(`expected an object of kind ${expected}`);
  const kind = value["kind"] ?? expected;
  if (kind !== expected) throw new TypeError(`expected an object of kind ${expected}, got ${describeKind(kind)}`);
  return { apiVersion: group === "" ? version : `${group}/${version}`, kind, ...value };
}

function describeKind(kind: unknown): string {
  return typeof kind === "string" ? kind.slice(0, MAX_NAME_LENGTH) : typeof kind;
}

/** Four times as long as any name of the API: what is remembered of objects, and what is told of them, has their names. */
const MAX_NAME_LENGTH = 1_024;

function findLongName(object: object): string | undefined {
  const metadata: unknown = Reflect.get(object, "metadata");
  if (!isRecord(metadata)) return undefined;
  for (const field of ["name", "namespace", "uid", "resourceVersion"]) {
    const text = metadata[field];
    if (typeof text === "string" && text.length > MAX_NAME_LENGTH) {
      return `metadata.${field} has more than ${MAX_NAME_LENGTH} characters`;
    }
  }
  return undefined;
}

const core = { group: "", version: "v1" };
const storage = { group: "storage.k8s.io", version: "v1" };

export const PODS = defineResource<types.Pod>({ ...core, plural: "pods", kind: "Pod", namespaced: true });
export const NODES = defineResource<types.Node>({ ...core, plural: "nodes", kind: "Node", namespaced: false });
export const NAMESPACES = defineResource<types.Namespace>({
  ...core,
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});
export const EVENTS = defineResource<types.Event>({ ...core, plural: "events", kind: "Event", namespaced: true });
export const SECRETS = defineResource<types.Secret>({ ...core, plural: "secrets", kind: "Secret", namespaced: true });
export const SERVICES = defineResource<types.Service>({
  ...core,
  plural: "services",
  kind: "Service",
  namespaced: true,
});
export const CONFIG_MAPS = defineResource<types.ConfigMap>({
  ...core,
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
});
export const SERVICE_ACCOUNTS = defineResource<types.ServiceAccount>({
  ...core,
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
});
export const NETWORK_POLICIES = defineResource<types.NetworkPolicy>({
  group: "networking.k8s.io",
  version: "v1",
  plural: "networkpolicies",
  kind: "NetworkPolicy",
  namespaced: true,
});
export const ENDPOINT_SLICES = defineResource<types.EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
});
const batch = { group: "batch", version: "v1" };
export const JOBS = defineResource<types.Job>({ ...batch, plural: "jobs", kind: "Job", namespaced: true });
export const CRON_JOBS = defineResource<types.CronJob>({
  ...batch,
  plural: "cronjobs",
  kind: "CronJob",
  namespaced: true,
});
const resource = { group: "resource.k8s.io", version: "v1" };
/** A claim of devices. */
export const RESOURCE_CLAIMS = defineResource<types.ResourceResourceClaim>(
  {
    ...resource,
    plural: "resourceclaims",
    kind: "ResourceClaim",
    namespaced: true,
  },
  "ResourceResourceClaim",
);
/** The devices that a driver offers, mostly of one node. */
export const RESOURCE_SLICES = defineResource<types.ResourceSlice>({
  ...resource,
  plural: "resourceslices",
  kind: "ResourceSlice",
  namespaced: false,
});
/** This resource can only be created, beneath a service account. */
export const TOKEN_REQUESTS = defineResource<types.TokenRequest>({
  group: "authentication.k8s.io",
  version: "v1",
  plural: "tokenrequests",
  kind: "TokenRequest",
  namespaced: true,
});
export const LEASES = defineResource<types.Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
});
export const RUNTIME_CLASSES = defineResource<types.RuntimeClass>({
  group: "node.k8s.io",
  version: "v1",
  plural: "runtimeclasses",
  kind: "RuntimeClass",
  namespaced: false,
});
export const CERTIFICATE_SIGNING_REQUESTS = defineResource<types.CertificateSigningRequest>({
  group: "certificates.k8s.io",
  version: "v1",
  plural: "certificatesigningrequests",
  kind: "CertificateSigningRequest",
  namespaced: false,
});
export const POD_CERTIFICATE_REQUESTS = defineResource<types.PodCertificateRequest>({
  group: "certificates.k8s.io",
  version: "v1beta1",
  plural: "podcertificaterequests",
  kind: "PodCertificateRequest",
  namespaced: true,
});
/** This resource can only be created; the answer is the created object. */
export const TOKEN_REVIEWS = defineResource<types.TokenReview>({
  group: "authentication.k8s.io",
  version: "v1",
  plural: "tokenreviews",
  kind: "TokenReview",
  namespaced: false,
});
/** This resource can only be created; the answer is the created object. */
export const SUBJECT_ACCESS_REVIEWS = defineResource<types.SubjectAccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  plural: "subjectaccessreviews",
  kind: "SubjectAccessReview",
  namespaced: false,
});
/** The facts that CSI drivers report about a node; the object has the node's name. */
export const CSI_NODES = defineResource<types.CSINode>({
  ...storage,
  plural: "csinodes",
  kind: "CSINode",
  namespaced: false,
});
/** The requirements of a CSI driver; the object has the driver's name. */
export const CSI_DRIVERS = defineResource<types.CSIDriver>({
  ...storage,
  plural: "csidrivers",
  kind: "CSIDriver",
  namespaced: false,
});
export const VOLUME_ATTACHMENTS = defineResource<types.VolumeAttachment>({
  ...storage,
  plural: "volumeattachments",
  kind: "VolumeAttachment",
  namespaced: false,
});
export const PERSISTENT_VOLUMES = defineResource<types.PersistentVolume>({
  ...core,
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
export const PERSISTENT_VOLUME_CLAIMS = defineResource<types.PersistentVolumeClaim>({
  ...core,
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
});
