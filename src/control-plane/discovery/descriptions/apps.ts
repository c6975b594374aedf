import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

const OBSERVED_GENERATION = "The generation of the object that this status is about.";
const COLLISION_COUNT = "How often a new name was taken already; goes into the next one. Set by the server.";
const MIN_READY_SECONDS = "How long a new pod must be ready before it counts as available, in seconds; default 0.";
const REVISION_HISTORY = "How many old revisions are kept to go back to; default 10.";
const SELECTOR = "The labels of the pods; the template must have them. Cannot be changed.";
const TEMPLATE = "What the pods are made from.";
const ROLLING_UPDATE = "How far a rolling update may go at a time; only with the type RollingUpdate.";
const UPDATE_STRATEGY = "How pods are replaced when the template changes.";
const TERMINATING = "How many pods are being deleted and have not ended yet.";
const CLAIM_RETENTION = "Retain (the default) or Delete.";

export const APP_TYPES: TypeDescriptions = {
  ControllerRevision: {
    is: "A former or present template of a daemon set or stateful set, kept to go back to.",
    fields: {
      data: "The template, as a patch of the set. Cannot be changed.",
      revision: "The number of the revision; a greater one is newer.",
    },
  },
  DaemonSet: { is: "Runs one pod on each node.", fields: {} },
  DaemonSetCondition: {
    is: "One thing that is known about the state of a daemon set.",
    fields: { ...CONDITION_FIELDS, type: "The name of the condition, in CamelCase." },
  },
  DaemonSetSpec: {
    is: "What pod runs on the nodes.",
    fields: {
      minReadySeconds: MIN_READY_SECONDS,
      revisionHistoryLimit: REVISION_HISTORY,
      selector: SELECTOR,
      template: "What the pods are made from; its node selector and affinity choose the nodes.",
      updateStrategy: UPDATE_STRATEGY,
    },
  },
  DaemonSetStatus: {
    is: "What was last seen of a daemon set.",
    fields: {
      collisionCount: COLLISION_COUNT,
      conditions: "What else is known of the daemon set.",
      currentNumberScheduled: "How many nodes have a pod and should have one.",
      desiredNumberScheduled: "How many nodes should have a pod.",
      numberAvailable: "How many nodes should have a pod and have one that is available.",
      numberMisscheduled: "How many nodes have a pod and should have none.",
      numberReady: "How many nodes should have a pod and have one that is ready.",
      numberUnavailable: "How many nodes should have a pod and have none that is available.",
      observedGeneration: OBSERVED_GENERATION,
      updatedNumberScheduled: "How many nodes have a pod of the present template.",
    },
  },
  DaemonSetUpdateStrategy: {
    is: "How the pods of a daemon set are replaced when its template changes.",
    fields: {
      rollingUpdate: ROLLING_UPDATE,
      type: "RollingUpdate (the default), or OnDelete, which leaves it to people to delete old pods.",
    },
  },
  Deployment: {
    is: "Keeps a number of pods running and replaces them step by step when their template changes.",
    fields: {},
  },
  DeploymentCondition: {
    is: "One thing that is known about the state of a deployment.",
    fields: {
      ...CONDITION_FIELDS,
      lastUpdateTime: "When the condition was last written.",
      type: "Available, Progressing or ReplicaFailure.",
    },
  },
  DeploymentSpec: {
    is: "How many pods should run, and how they are replaced.",
    fields: {
      minReadySeconds: MIN_READY_SECONDS,
      paused: "Whether changes of the template wait; default false.",
      progressDeadlineSeconds:
        "How long a rollout may make no progress before its condition says that it failed, in seconds; default 600.",
      replicas: "How many pods should run; default 1.",
      revisionHistoryLimit: "How many old replica sets are kept to go back to; default 10.",
      selector: SELECTOR,
      strategy: UPDATE_STRATEGY,
      template: TEMPLATE,
    },
  },
  DeploymentStatus: {
    is: "What was last seen of a deployment.",
    fields: {
      availableReplicas: "How many pods have been ready for `minReadySeconds`.",
      collisionCount: COLLISION_COUNT,
      conditions: "How far the deployment is: Available, Progressing, ReplicaFailure.",
      observedGeneration: OBSERVED_GENERATION,
      readyReplicas: "How many pods are ready.",
      replicas: "How many pods there are, old and new, without those being deleted.",
      terminatingReplicas: TERMINATING,
      unavailableReplicas: "How many pods are still missing or not yet available.",
      updatedReplicas: "How many pods have the present template.",
    },
  },
  DeploymentStrategy: {
    is: "How the pods of a deployment are replaced when its template changes.",
    fields: {
      rollingUpdate: ROLLING_UPDATE,
      type: "RollingUpdate (the default), or Recreate, which deletes all old pods before it makes new ones.",
    },
  },
  ReplicaSet: { is: "Keeps a number of equal pods running.", fields: {} },
  ReplicaSetCondition: {
    is: "One thing that is known about the state of a replica set.",
    fields: { ...CONDITION_FIELDS, type: "ReplicaFailure: a pod could not be created or deleted." },
  },
  ReplicaSetSpec: {
    is: "How many pods should run, and what they are made from.",
    fields: {
      minReadySeconds: MIN_READY_SECONDS,
      replicas: "How many pods should run; default 1.",
      selector: SELECTOR,
      template: TEMPLATE,
    },
  },
  ReplicaSetStatus: {
    is: "What was last seen of a replica set.",
    fields: {
      availableReplicas: "How many pods have been ready for `minReadySeconds`.",
      conditions: "What else is known of the replica set: ReplicaFailure.",
      fullyLabeledReplicas: "How many pods have all labels of the template.",
      observedGeneration: OBSERVED_GENERATION,
      readyReplicas: "How many pods are ready.",
      replicas: "How many pods there are, without those being deleted.",
      terminatingReplicas: TERMINATING,
    },
  },
  RollingUpdateDaemonSet: {
    is: "How many nodes a rolling update of a daemon set may touch at a time.",
    fields: {
      maxSurge: "On how many nodes a new pod may start beside the old one, as a number or a percentage; default 0.",
      maxUnavailable: "How many nodes may be without an available pod, as a number or a percentage; default 1.",
    },
  },
  RollingUpdateDeployment: {
    is: "How many pods a rolling update of a deployment may add and take away at a time.",
    fields: {
      maxSurge: "How many pods there may be above `replicas`, as a number or a percentage, rounded up; default 25%.",
      maxUnavailable:
        "How many pods of `replicas` may be unavailable, as a number or a percentage, rounded down; default 25%.",
    },
  },
  RollingUpdateStatefulSetStrategy: {
    is: "Which pods a rolling update of a stateful set may replace.",
    fields: {
      maxUnavailable:
        "How many pods may be unavailable, as a number or a percentage; default 1. Needs the feature gate " +
        "MaxUnavailableStatefulSet, off by default.",
      partition: "The number of the first pod that is updated; those before it stay as they are. Default 0.",
    },
  },
  StatefulSet: { is: "Keeps pods running that each have a name and storage of their own.", fields: {} },
  StatefulSetCondition: {
    is: "One thing that is known about the state of a stateful set.",
    fields: { ...CONDITION_FIELDS, type: "The name of the condition, in CamelCase." },
  },
  StatefulSetOrdinals: {
    is: "How the pods of a stateful set are numbered.",
    fields: { start: "The number of the first pod; default 0." },
  },
  StatefulSetPersistentVolumeClaimRetentionPolicy: {
    is: "What becomes of the claims that were made from the set's templates.",
    fields: {
      whenDeleted: `What becomes of all claims when the set is deleted: ${CLAIM_RETENTION}`,
      whenScaled: `What becomes of the claims of pods above the number wanted: ${CLAIM_RETENTION}`,
    },
  },
  StatefulSetSpec: {
    is: "How many pods should run, what they are made from, and what storage each has.",
    fields: {
      minReadySeconds: MIN_READY_SECONDS,
      ordinals: "How the pods are numbered; default: from 0.",
      persistentVolumeClaimRetentionPolicy: "What becomes of claims that are no longer needed; default: they stay.",
      podManagementPolicy:
        "OrderedReady (the default: one pod after another, each when the one before is ready) or Parallel (all at " +
        "once). Cannot be changed.",
      replicas: "How many pods should run; default 1.",
      revisionHistoryLimit: REVISION_HISTORY,
      selector: SELECTOR,
      serviceName: "The headless service under which each pod has a name of its own in DNS. Cannot be changed.",
      template: "What the pods are made from; each is named after the set and its number, `web-0`.",
      updateStrategy: UPDATE_STRATEGY,
      volumeClaimTemplates:
        "What the claims of each pod are made from; each is the volume of the same name. Cannot be changed.",
    },
  },
  StatefulSetStatus: {
    is: "What was last seen of a stateful set.",
    fields: {
      availableReplicas: "How many pods have been ready for `minReadySeconds`.",
      collisionCount: COLLISION_COUNT,
      conditions: "What else is known of the stateful set.",
      currentReplicas: "How many pods have the template of `currentRevision`.",
      currentRevision: "The revision of the pods that are not updated yet.",
      observedGeneration: OBSERVED_GENERATION,
      readyReplicas: "How many pods are ready.",
      replicas: "How many pods there are.",
      updateRevision: "The revision that pods are updated to.",
      updatedReplicas: "How many pods have the template of `updateRevision`.",
    },
  },
  StatefulSetUpdateStrategy: {
    is: "How the pods of a stateful set are replaced when its template changes.",
    fields: {
      rollingUpdate: ROLLING_UPDATE,
      type: "RollingUpdate (the default), or OnDelete, which leaves it to people to delete old pods.",
    },
  },
};
