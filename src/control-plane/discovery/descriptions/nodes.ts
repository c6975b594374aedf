import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const NODE_TYPES: TypeDescriptions = {
  AttachedVolume: {
    is: "A volume that is attached to a node.",
    fields: { devicePath: "Where the volume is to be found on the node.", name: "The name of the volume." },
  },
  ContainerImage: {
    is: "An image that is on a node.",
    fields: { names: "All its names, with tags and with digests.", sizeBytes: "Its size, in bytes." },
  },
  DaemonEndpoint: { is: "Where a daemon listens.", fields: { Port: "The number of the port." } },
  Node: { is: "A machine that runs pods.", fields: {} },
  NodeAddress: {
    is: "An address of a node.",
    fields: {
      address: "The address: an IP address or a name.",
      type: "What kind of address: Hostname, InternalIP, ExternalIP, InternalDNS, ExternalDNS.",
    },
  },
  NodeAffinity: {
    is: "Which nodes a pod must or should run on.",
    fields: {
      preferredDuringSchedulingIgnoredDuringExecution:
        "Wishes: the scheduler favors the nodes that meet those with the most weight in sum.",
      requiredDuringSchedulingIgnoredDuringExecution:
        "Conditions that a node must meet when the pod is scheduled; a running pod is not moved when they no longer hold.",
    },
  },
  NodeAllocatableResourceClaimStatus: {
    is: "How much of a node's own resources, CPU and memory for instance, a pod has by way of a resource claim.",
    fields: {
      containers: "The names of the pod's containers that use the claim.",
      resourceClaimName: "The name of the claim.",
      resources: "How much of each resource the claim has.",
    },
  },
  NodeCondition: {
    is: "Something that is true or false of a node.",
    fields: {
      ...CONDITION_FIELDS,
      lastHeartbeatTime: "When the condition was last checked.",
      type: "What the condition says: Ready, MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable.",
    },
  },
  NodeConfigSource: {
    is: "Where a node agent's configuration came from. No longer used.",
    fields: { configMap: "The config map. No longer used." },
  },
  NodeConfigStatus: {
    is: "Which configuration a node agent had. No longer used.",
    fields: {
      active: "The configuration in use. No longer used.",
      assigned: "The configuration to be used. No longer used.",
      error: "Why it could not be used. No longer used.",
      lastKnownGood: "The configuration to fall back to. No longer used.",
    },
  },
  NodeDaemonEndpoints: {
    is: "Where the daemons of a node listen.",
    fields: { kubeletEndpoint: "Where the node agent listens." },
  },
  NodeFeatures: {
    is: "What a node's container runtime can do.",
    fields: {
      supplementalGroupsPolicy:
        "Whether it supports `supplementalGroupsPolicy` of pods and reports the users of containers.",
    },
  },
  NodeRuntimeHandler: {
    is: "A way in which a node's container runtime can run pods.",
    fields: {
      features: "What can be done with it.",
      name: "The handler's name, which runtime classes refer to; empty for the default one.",
    },
  },
  NodeRuntimeHandlerFeatures: {
    is: "What a handler of the container runtime can do.",
    fields: {
      recursiveReadOnlyMounts: "Whether it can make mounts read-only with all mounts below them.",
      userNamespaces: "Whether it can give pods user IDs of their own.",
    },
  },
  NodeSelector: {
    is: "Which nodes are meant.",
    fields: { nodeSelectorTerms: "Sets of conditions, one of which a node must meet." },
  },
  NodeSelectorRequirement: {
    is: "A condition on a label or a field of a node.",
    fields: {
      key: "The key of the label, or the name of the field.",
      operator: "In, NotIn, Exists, DoesNotExist, Gt or Lt.",
      values: "The values for In and NotIn, one whole number for Gt and Lt, none for the other operators.",
    },
  },
  NodeSelectorTerm: {
    is: "Conditions on nodes, all of which must hold. An empty term means no node.",
    fields: {
      matchExpressions: "Conditions on labels.",
      matchFields: "Conditions on fields; `metadata.name` is the only one.",
    },
  },
  NodeSpec: {
    is: "What a node should be.",
    fields: {
      configSource: "No longer used.",
      externalID: "No longer used.",
      podCIDR: "The addresses of the node's pods.",
      podCIDRs:
        "The addresses of the node's pods, at most one range for each of IPv4 and IPv6; the first is `podCIDR`.",
      providerID: "The machine's ID at the cloud that it runs in, `PROVIDER://ID`.",
      taints: "What keeps away pods that do not tolerate it.",
      unschedulable: "Keeps new pods away, as `kubectl cordon` does.",
    },
  },
  NodeStatus: {
    is: "What was last seen of a node. Its agent writes it.",
    fields: {
      addresses: "The addresses and names of the node.",
      allocatable: "How much of each resource pods can use.",
      capacity: "How much of each resource the machine has.",
      conditions: "How the node is: Ready, MemoryPressure, DiskPressure, PIDPressure.",
      config: "No longer used.",
      daemonEndpoints: "Where the node agent listens.",
      declaredFeatures:
        "Features that the node agent says it has, so that pods in need of them can be scheduled to it.",
      features: "What the container runtime can do.",
      images: "The images that are on the node.",
      nodeInfo: "The IDs of the machine, and the versions of its software.",
      phase: "No longer used.",
      runtimeHandlers: "The ways in which the container runtime can run pods.",
      volumesAttached: "The volumes that are attached to the node.",
      volumesInUse: "The attachable volumes that the node agent uses, which must not be detached.",
    },
  },
  NodeSwapStatus: { is: "The swap space of a node.", fields: { capacity: "How much there is, in bytes." } },
  NodeSystemInfo: {
    is: "The IDs of a node's machine, and the versions of its software.",
    fields: {
      architecture: "The processor's architecture, `amd64`.",
      bootID: "Changes each time the machine boots.",
      containerRuntimeVersion: "The container runtime and its version, `containerd://2.1.4`.",
      kernelVersion: "The kernel's version, as `uname -r` prints it.",
      kubeProxyVersion: "No longer used.",
      kubeletVersion: "The node agent's version.",
      machineID: "The ID of the installed system, from `/etc/machine-id`.",
      operatingSystem: "The operating system: linux or windows.",
      osImage: "The name of the distribution, from `/etc/os-release`.",
      swap: "The swap space.",
      systemUUID: "The ID of the hardware, as its firmware gives it.",
    },
  },
  PreferredSchedulingTerm: {
    is: "A wish about nodes, with its weight.",
    fields: { preference: "Which nodes.", weight: "How much the wish counts against others, 1 to 100." },
  },
  Taint: {
    is: "What keeps away from a node all pods that do not tolerate it.",
    fields: {
      effect:
        "NoSchedule keeps new pods away, PreferNoSchedule does so if there are other nodes, NoExecute also evicts running pods.",
      key: "The key of the taint.",
      timeAdded: "When the taint was added.",
      value: "The value of the taint.",
    },
  },
};
