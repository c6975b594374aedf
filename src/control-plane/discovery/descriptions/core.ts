import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const CORE_TYPES: TypeDescriptions = {
  Binding: { is: "Assigns a pod to a node.", fields: { target: "The node that the pod is assigned to." } },
  ClientIPConfig: {
    is: "How long a client of a service stays with the same pod.",
    fields: { timeoutSeconds: "How long after its last connection, in seconds, up to 86400; default 10800." },
  },
  ComponentCondition: {
    is: "Something that is true or false of a part of the control plane.",
    fields: {
      error: "The error code of the check, if there is one.",
      message: "Why, for people.",
      status: "True, False or Unknown.",
      type: "What the condition says: Healthy is the only type.",
    },
  },
  ComponentStatus: {
    is: "The health of a part of the control plane. Deprecated.",
    fields: { conditions: "The result of the health check." },
  },
  ConfigMap: {
    is: "Configuration for pods, as keys with values.",
    fields: {
      binaryData: "Values that are not UTF-8, in base64.",
      data: "Values by key.",
      immutable: "When true, the data can no longer be changed.",
    },
  },
  ConfigMapNodeConfigSource: {
    is: "The config map that a node agent's configuration came from. No longer used.",
    fields: {
      kubeletConfigKey: "The key of the configuration. No longer used.",
      name: "The name of the config map. No longer used.",
      namespace: "The namespace of the config map. No longer used.",
      resourceVersion: "The version of the config map. No longer used.",
      uid: "The UID of the config map. No longer used.",
    },
  },
  EndpointAddress: {
    is: "An address behind a service.",
    fields: {
      hostname: "The host name that stands for the address in DNS.",
      ip: "The IP address; not a loopback or link-local one.",
      nodeName: "The node that the address is on.",
      targetRef: "The object that has the address, a pod for instance.",
    },
  },
  EndpointPort: {
    is: "A port behind a service.",
    fields: {
      appProtocol:
        "The protocol spoken above TCP or UDP, as a hint: a registered name such as `https`, or `kubernetes.io/h2c`.",
      name: "The name of the port, the same as in the service; needed when there are several.",
      port: "The number of the port.",
      protocol: "TCP (the default), UDP or SCTP.",
    },
  },
  Endpoints: {
    is: "The addresses behind a service, in their older form.",
    fields: { subsets: "Sets of addresses with the ports that they share." },
  },
  EndpointSubset: {
    is: "Addresses that have the same ports.",
    fields: {
      addresses: "The addresses that are ready for traffic.",
      notReadyAddresses: "The addresses that are not ready for traffic.",
      ports: "The ports that each of the addresses has.",
    },
  },
  Event: {
    is: "Something that happened to an object, kept for a while.",
    fields: {
      action: "What was done, or failed.",
      count: "How often it happened.",
      eventTime: "When it was first seen, to the microsecond.",
      firstTimestamp: "When it first happened.",
      involvedObject: "The object that it happened to.",
      lastTimestamp: "When it last happened.",
      message: "What happened, for people.",
      reason: "What happened, in one CamelCase word.",
      related: "A second object that has to do with it.",
      reportingComponent: "The controller that reports it, `kubelet`.",
      reportingInstance: "Which instance of the controller it was, the node's name for instance.",
      series: "How often it happened again; not set when it happened once.",
      source: "Who reports it, in the older form.",
      type: "Normal or Warning.",
    },
  },
  EventSeries: {
    is: "Events of the same sort, counted in one object.",
    fields: { count: "How often it has happened.", lastObservedTime: "When it last happened, to the microsecond." },
  },
  EventSource: {
    is: "Who reported an event.",
    fields: { component: "The component, `kubelet`.", host: "The node that the component ran on." },
  },
  LimitRange: {
    is: "Default and extreme values of the resources that objects of a namespace may ask for.",
    fields: {},
  },
  LimitRangeItem: {
    is: "The limits of one type of object.",
    fields: {
      default: "The limit that a container gets when it has none.",
      defaultRequest: "The request that a container gets when it has none.",
      max: "The most of each resource that may be asked for.",
      maxLimitRequestRatio: "How many times as large as the request the limit may be.",
      min: "The least of each resource that must be asked for.",
      type: "What is limited: Container, Pod or PersistentVolumeClaim.",
    },
  },
  LimitRangeSpec: { is: "Which limits hold.", fields: { limits: "The limits, by type of object." } },
  LoadBalancerIngress: {
    is: "An address at which a load balancer takes traffic.",
    fields: {
      hostname: "The host name, of load balancers that have one.",
      ip: "The IP address, of load balancers that have one.",
      ipMode:
        "How traffic reaches a node: VIP (the default), with the load balancer's address as its destination; Proxy, with the node's or pod's.",
      ports: "The state of the service's ports.",
    },
  },
  LoadBalancerStatus: {
    is: "What was last seen of a service's load balancer.",
    fields: { ingress: "The addresses at which the load balancer takes traffic." },
  },
  LocalObjectReference: { is: "Names an object in the same namespace.", fields: { name: "The name of the object." } },
  Namespace: { is: "A scope for names, and what is deleted together.", fields: {} },
  NamespaceCondition: {
    is: "Something that is true or false of a namespace that is being deleted.",
    fields: {
      ...CONDITION_FIELDS,
      type: "What the condition says, NamespaceContentRemaining or NamespaceDeletionContentFailure for instance.",
    },
  },
  NamespaceSpec: {
    is: "What a namespace should be.",
    fields: { finalizers: "Who has work to do before the namespace may go; `kubernetes` deletes what is in it." },
  },
  NamespaceStatus: {
    is: "What was last seen of a namespace.",
    fields: { conditions: "What holds up its deletion.", phase: "Active, or Terminating while it is being deleted." },
  },
  ObjectReference: {
    is: "Names an object, or a part of one.",
    fields: {
      apiVersion: "The object's group and version, `apps/v1`.",
      fieldPath: "The part that is meant, `spec.containers{web}`; default: the whole object.",
      kind: "The object's kind.",
      name: "The object's name.",
      namespace: "The object's namespace.",
      resourceVersion: "The version of the object that is meant.",
      uid: "The object's UID.",
    },
  },
  PortStatus: {
    is: "The state of a port of a load balancer.",
    fields: {
      error: "What is wrong with the port, in one CamelCase word.",
      port: "The number of the service's port.",
      protocol: "TCP, UDP or SCTP.",
    },
  },
  ReplicationController: { is: "Keeps a number of equal pods running; replica sets took its place.", fields: {} },
  ReplicationControllerCondition: {
    is: "Something that is true or false of a replication controller.",
    fields: {
      ...CONDITION_FIELDS,
      type: "What the condition says: ReplicaFailure.",
    },
  },
  ReplicationControllerSpec: {
    is: "How many pods there should be, and which.",
    fields: {
      minReadySeconds: "How long in seconds a new pod must be ready before it counts as available; default 0.",
      replicas: "How many pods there should be; default 1.",
      selector: "The labels of the pods; default: those of the template.",
      template: "What new pods are like.",
    },
  },
  ReplicationControllerStatus: {
    is: "What was last seen of a replication controller. Set by the server.",
    fields: {
      availableReplicas: "How many pods have been ready for `minReadySeconds`.",
      conditions: "Whether pods could be created and deleted: ReplicaFailure.",
      fullyLabeledReplicas: "How many pods have all labels of the template.",
      observedGeneration: "The generation of the object that this status is about.",
      readyReplicas: "How many pods are ready.",
      replicas: "How many pods there are.",
    },
  },
  ResourceQuota: { is: "What all objects of a namespace may use together.", fields: {} },
  ResourceQuotaSpec: {
    is: "How much may be used, and by which objects.",
    fields: {
      hard: "The most of each resource, `requests.cpu` or `pods`.",
      scopeSelector: "Which objects count, by scopes and their values.",
      scopes: "Which objects count: those in all of these scopes; default: all objects.",
    },
  },
  ResourceQuotaStatus: {
    is: "What was last seen of a quota. Set by the server.",
    fields: { hard: "The most of each resource, as last put in force.", used: "How much of each resource is used." },
  },
  Secret: {
    is: "Configuration for pods that should be kept to few eyes.",
    fields: {
      data: "Values by key, in base64.",
      immutable: "When true, the data can no longer be changed.",
      stringData: "Values by key as they are; written into data, never returned.",
      type: "What the secret is for, which decides what keys it must have.",
    },
  },
  SecretReference: {
    is: "Names a secret in any namespace.",
    fields: { name: "The name of the secret.", namespace: "The namespace of the secret." },
  },
  Service: { is: "A stable address for a set of pods.", fields: {} },
  ServiceAccount: {
    is: "An identity for the processes in pods.",
    fields: {
      automountServiceAccountToken:
        "Whether the containers of its pods get a token; default true. A pod can say otherwise.",
      imagePullSecrets: "Secrets with which its pods may pull images, when they name none themselves.",
      secrets: "Secrets that its pods may use; enforced only with a deprecated annotation.",
    },
  },
  ServicePort: {
    is: "A port of a service.",
    fields: {
      appProtocol:
        "The protocol spoken above TCP or UDP, as a hint: a registered name such as `https`, or `kubernetes.io/h2c`.",
      name: "The port's name, unique in the service; needed when there are several.",
      nodePort:
        "The port on every node that leads to the service, of types NodePort and LoadBalancer. Chosen by the server when not set.",
      port: "The number of the port at the service's address.",
      protocol: "TCP (the default), UDP or SCTP.",
      targetPort: "The port of the pods, by number or by its name there; default: the same as `port`.",
    },
  },
  ServiceSpec: {
    is: "Which pods are behind a service, and how it is reached.",
    fields: {
      allocateLoadBalancerNodePorts: "Whether a load balancer's service gets ports on the nodes; default true.",
      clusterIP: "The service's address within the cluster; None makes it headless.",
      clusterIPs:
        "The service's addresses within the cluster, at most one for each of IPv4 and IPv6; the first is `clusterIP`.",
      externalIPs: "Further addresses whose traffic, once it reaches a node, goes to the service. Deprecated.",
      externalName: "The DNS name that a service of type ExternalName stands for.",
      externalTrafficPolicy:
        "Where traffic from outside goes: Cluster (the default), any pod; Local, pods of the node it arrives at, which see the client's address.",
      healthCheckNodePort:
        "The port of the nodes that tells a load balancer whether pods are there; with `externalTrafficPolicy: Local`. Chosen by the server when not set.",
      internalTrafficPolicy:
        "Where traffic from within the cluster goes: Cluster (the default), any pod; Local, pods of the same node only.",
      ipFamilies: "The address families of `clusterIPs`: IPv4, IPv6. Chosen by the server when not set.",
      ipFamilyPolicy:
        "SingleStack (the default), PreferDualStack (both families if the cluster has them) or RequireDualStack.",
      loadBalancerClass: "Which implementation makes the load balancer; default: the cluster's. Cannot be changed.",
      loadBalancerIP: "The address wanted of the load balancer. Deprecated.",
      loadBalancerSourceRanges:
        "The clients' addresses, as CIDRs, that the load balancer lets in, if it can tell; default: all.",
      ports: "The ports that the service has.",
      publishNotReadyAddresses: "Whether pods that are not ready get traffic and DNS names too; default false.",
      selector: "The labels of the pods behind the service.",
      sessionAffinity: "Whether a client stays with the same pod: ClientIP, by its address, or None (the default).",
      sessionAffinityConfig: "How long clients stay with the same pod.",
      trafficDistribution:
        "Which pods are preferred: PreferSameZone, PreferSameNode, or PreferClose, the older name of the first.",
      type: "Who reaches the service: ClusterIP, NodePort, LoadBalancer, ExternalName.",
    },
  },
  ServiceStatus: {
    is: "What was last seen of a service.",
    fields: {
      conditions: "What is true or false of the service.",
      loadBalancer: "What is known of the load balancer, if there is one.",
    },
  },
};
