import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const CLUSTER_TYPES: TypeDescriptions = {
  APIService: {
    is: "Says which server answers for a version of an API group. Its name is the version, a dot and the group.",
    fields: {},
  },
  APIServiceCondition: {
    is: "Whether the server behind a version of an API group can be reached.",
    fields: {
      ...CONDITION_FIELDS,
      type: "What the condition is about: Available.",
    },
  },
  APIServiceSpec: {
    is: "Which server answers for which version of an API group.",
    fields: {
      caBundle:
        "Authorities that the server's certificate must come from, as PEM in base64; default those of the system.",
      group: "The API group.",
      groupPriorityMinimum:
        "How high the group ranks at least, from 1 to 20000; clients prefer groups that rank higher.",
      insecureSkipTLSVerify: "Whether the server's certificate goes unchecked. Not together with `caBundle`.",
      service: "The service in the cluster that answers; without it, the API server does so itself.",
      version: "The version, such as `v1`.",
      versionPriority: "How high the version ranks within its group, from 1 to 1000; higher ones come first.",
    },
  },
  APIServiceStatus: {
    is: "Whether the server behind a version of an API group can be reached.",
    fields: { conditions: "The conditions: Available." },
  },
  EventsEvent: {
    is: "Something that happened to an object, kept for a while.",
    fields: {
      action: "What was done or tried, in one CamelCase word.",
      deprecatedCount: "How often it happened. Kept for clients of the core group's events.",
      deprecatedFirstTimestamp: "When it first happened. Kept for clients of the core group's events.",
      deprecatedLastTimestamp: "When it last happened. Kept for clients of the core group's events.",
      deprecatedSource: "Who reported it. Kept for clients of the core group's events.",
      eventTime: "When it first happened.",
      note: "What happened, for people, at most 1 kB.",
      reason: "Why, in one CamelCase word.",
      regarding: "The object that it happened to.",
      related: "A second object that had a part in it.",
      reportingController: "Who reports it, such as `kubelet`.",
      reportingInstance: "Which instance of the reporter, such as its node's or pod's name; at most 128 characters.",
      series: "How often it happened, if more than once.",
      type: "Normal or Warning.",
    },
  },
  EventsEventSeries: {
    is: "How often something happened again.",
    fields: { count: "How often it happened up to `lastObservedTime`.", lastObservedTime: "When it last happened." },
  },
  Eviction: {
    is: "Asks for the removal of a pod within the limits of its disruption budgets.",
    fields: { deleteOptions: "How the pod is deleted, such as its grace period or as a dry run." },
  },
  Lease: {
    is: "Held by whoever renewed it last: node heartbeats and leader elections.",
    fields: { spec: "Who holds the lease, and for how long." },
  },
  LeaseSpec: {
    is: "Who holds a lease, and for how long.",
    fields: {
      acquireTime: "When the holder got the lease.",
      holderIdentity: "Who holds the lease.",
      leaseDurationSeconds: "How long after `renewTime` others must wait before they take the lease, in seconds.",
      leaseTransitions: "How often the lease went to another holder.",
      preferredHolder: "Who should hold the lease instead; the holder then gives it up. Only together with `strategy`.",
      renewTime: "When the holder last renewed the lease.",
      strategy:
        "How the holder is chosen among candidates, such as `OldestEmulationVersion`; default they settle it by themselves.",
    },
  },
  Overhead: {
    is: "What a pod takes besides its containers.",
    fields: { podFixed: "Amounts by resource, which count on top of what the containers request." },
  },
  PodDisruptionBudget: { is: "How many pods of a set may be evicted at a time.", fields: {} },
  PodDisruptionBudgetSpec: {
    is: "How many pods of a set may be evicted at a time.",
    fields: {
      maxUnavailable:
        "How many pods may be unavailable after an eviction, as a number or a percentage. Not together with `minAvailable`.",
      minAvailable:
        "How many pods must be available after an eviction, as a number or a percentage. Not together with `maxUnavailable`.",
      selector: "The labels of the pods. An empty selector means all pods of the namespace, a missing one none.",
      unhealthyPodEvictionPolicy:
        "Whether running pods that are not ready may be evicted: IfHealthyBudget (default) only while enough others are ready, AlwaysAllow always.",
    },
  },
  PodDisruptionBudgetStatus: {
    is: "How many pods of a set may be evicted now.",
    fields: {
      conditions: "The conditions: DisruptionAllowed.",
      currentHealthy: "How many pods are ready.",
      desiredHealthy: "How many pods must be ready.",
      disruptedPods: "When evictions were granted whose pods were not seen to go yet, by the pod's name.",
      disruptionsAllowed: "How many pods may be evicted now.",
      expectedPods: "How many pods the budget counts, ready or not.",
      observedGeneration: "The generation of the object that this status is about.",
    },
  },
  PriorityClass: {
    is: "A name for a pod priority.",
    fields: {
      description: "What the class is for.",
      globalDefault: "Whether pods without a class get this one. At most one class says so.",
      preemptionPolicy: "Whether pods of the class may displace others: PreemptLowerPriority or Never.",
      value: "The priority: the higher, the more important. Cannot be changed.",
    },
  },
  RuntimeClass: {
    is: "Names a way in which a node's container runtime can run a pod.",
    fields: {
      handler:
        "What the way is called in the configuration of the container runtime, such as `runc`. Cannot be changed.",
      overhead: "What a pod of the class takes besides its containers.",
      scheduling: "Which nodes can run pods of the class; default all.",
    },
  },
  Scheduling: {
    is: "Which nodes can run pods of a runtime class.",
    fields: {
      nodeSelector: "Labels that a node must have, besides those that the pod asks for.",
      tolerations: "Tolerations that pods of the class get besides their own.",
    },
  },
  ApiregistrationServiceReference: {
    is: "The service in the cluster that answers for a version of an API group.",
    fields: {
      name: "The name of the service.",
      namespace: "The namespace of the service.",
      port: "The port of the service, default 443.",
    },
  },
};
