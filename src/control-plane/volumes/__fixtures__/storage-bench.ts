import type {
  Node,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  PodSpec,
  PodStatus,
  StorageClass,
} from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { type ControllerBench, createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";

export interface StorageBench extends ControllerBench {
  /** Writes the object as its author would, and lets all controllers act on it. */
  put(resource: string, object: KubeObject): Promise<KubeObject>;
  /** Changes the object or its status, and lets all controllers act on it. */
  change(target: Target, change: (object: KubeObject) => KubeObject, subresource?: "status"): Promise<void>;
  drop(target: Target): Promise<void>;
  at(target: Target): KubeObject | undefined;
  /** The recorded events in order, as `Warning FailedBinding …`. */
  events(): string[];
}

/** An object by resource and name: `persistentvolumeclaims data`, `pods app`. Namespaced objects lie in `default`. */
type Target = string;

const NAMESPACED = new Set(["persistentvolumeclaims", "pods"]);

/** A cluster with storage, in memory. */
export function createStorageBench(): StorageBench {
  const bench = createControllerBench();
  const nameOf = (target: Target) => {
    const [resource = "", name = ""] = target.split(" ");
    return { resource, name, namespace: NAMESPACED.has(resource) ? "default" : "" };
  };
  const at = (target: Target) => bench.reader.get(nameOf(target));
  return Object.assign(bench, {
    at,
    async put(resource: string, object: KubeObject) {
      const created = await bench.create(resource, object);
      await bench.clock.settle();
      return created;
    },
    async change(target: Target, change: (object: KubeObject) => KubeObject, subresource?: "status") {
      const object = at(target);
      if (object === undefined) throw new TypeError(`there is no ${target}`);
      await bench.writer.update(nameOf(target).resource, change(object), subresource);
      await bench.clock.settle();
    },
    async drop(target: Target) {
      await bench.writer.remove(nameOf(target), { gracePeriodSeconds: 0 });
      await bench.clock.settle();
    },
    events: () =>
      bench.reader.list("events").map((event) => `${event["type"]} ${event["reason"]}: ${event["message"]}`),
  });
}

type Metadata = KubeObject["metadata"];

interface ClaimOptions extends PersistentVolumeClaimSpec {
  size?: string;
  metadata?: Metadata;
}

/** A claim of 1Gi for one node. */
export function claim(name: string, { size = "1Gi", metadata, ...spec }: ClaimOptions = {}): KubeObject {
  return untyped({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", ...metadata },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } }, ...spec },
    status: { phase: "Pending" },
  });
}

interface VolumeOptions extends PersistentVolumeSpec {
  size?: string;
  metadata?: Metadata;
}

/** A volume of 1Gi for one node that is retained when its claim is deleted. */
export function volume(name: string, { size = "1Gi", metadata, ...spec }: VolumeOptions = {}): KubeObject {
  return untyped({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, ...metadata },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: size },
      persistentVolumeReclaimPolicy: "Retain",
      ...spec,
    },
    status: { phase: "Pending" },
  });
}

/** A storage class. Claims of a `delayed` class wait for their pod. */
export function storageClass(name: string, parts: Partial<StorageClass> & { delayed?: boolean } = {}): KubeObject {
  const { delayed = false, metadata, ...rest } = parts;
  return untyped({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name, ...metadata },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: delayed ? "WaitForFirstConsumer" : "Immediate",
    ...rest,
  });
}

export interface PodOptions extends Partial<PodSpec> {
  claims?: readonly string[];
  metadata?: Metadata;
  status?: PodStatus;
}

/** A pod with a volume for each claim. */
export function pod(name: string, { claims = [], metadata, status, ...spec }: PodOptions = {}): KubeObject {
  const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  return untyped({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", ...metadata },
    spec: { containers: [{ name: "main", image: "i" }], volumes, ...spec },
    ...(status && { status }),
  });
}

/** A ready node whose volumes the controller attaches. */
export function node(name: string, { spec, status }: Pick<Node, "spec" | "status"> = {}): KubeObject {
  return untyped({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" } },
    ...(spec && { spec }),
    status: { conditions: [{ type: "Ready", status: "True" }], ...status },
  });
}

/** The fields of a claim that binding changes. */
export function bindingOf(object: KubeObject | undefined): object | undefined {
  if (object === undefined) return undefined;
  const { metadata, spec, status } = typed("PersistentVolumeClaim", object);
  return {
    volume: spec?.volumeName,
    phase: status?.phase,
    annotations: Object.keys(metadata.annotations ?? {}).sort(),
  };
}
