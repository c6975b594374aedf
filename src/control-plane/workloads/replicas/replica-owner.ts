import type { PodTemplateSpec, ReplicaSetStatus } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";

/** What a replica set and a replication controller have in common. */
export interface ReplicaOwner {
  readonly object: KubeObject;
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly template: PodTemplateSpec;
  readonly status: ReplicaSetStatus;
  /** True for objects whose labels it selects. */
  selects(object: KubeObject): boolean;
}

/** A kind whose objects keep a number of pods of one template. */
export interface ReplicaKind {
  readonly kind: string;
  readonly resource: string;
  /** The source of its events, as upstream names it. */
  readonly component: string;
  /** For logs: the name of upstream's queue. */
  readonly queue: string;
  /** True when its status has a number of terminating replicas. */
  readonly countsTerminating: boolean;
  read(object: KubeObject): ReplicaOwner;
}

export const REPLICA_SETS: ReplicaKind = {
  kind: "ReplicaSet",
  resource: "replicasets.apps",
  component: "replicaset-controller",
  queue: "replicaset",
  countsTerminating: true,
  read(object) {
    const { spec, status } = typed("ReplicaSet", object);
    return ownerOf(object, { ...spec, status, selector: lenientSelectorOf(spec?.selector) });
  },
};

export const REPLICATION_CONTROLLERS: ReplicaKind = {
  kind: "ReplicationController",
  resource: "replicationcontrollers",
  component: "replication-controller",
  queue: "replicationmanager",
  countsTerminating: false,
  read(object) {
    const { spec, status } = typed("ReplicationController", object);
    return ownerOf(object, { ...spec, status, selector: lenientSelectorOf({ matchLabels: spec?.selector ?? {} }) });
  },
};

interface OwnerParts {
  replicas?: number;
  minReadySeconds?: number;
  template?: PodTemplateSpec;
  status: ObjectOf<"ReplicaSet">["status"] | ObjectOf<"ReplicationController">["status"];
  selector: ReturnType<typeof lenientSelectorOf>;
}

function ownerOf(object: KubeObject, parts: OwnerParts): ReplicaOwner {
  const { replicas = 1, minReadySeconds = 0, template = {}, status = { replicas: 0 }, selector } = parts;
  const selects = ({ metadata }: KubeObject) => selector.matches(metadata.labels);
  return { object, replicas, minReadySeconds, template, status, selects };
}
