import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

export const POD_TYPES: TypeDescriptions = {
  Affinity: {
    is: "Rules about which nodes a pod may or should run on.",
    fields: {
      nodeAffinity: "Which nodes the pod may or should run on, by their labels.",
      podAffinity: "Which other pods it should be close to, on the same node or in the same zone.",
      podAntiAffinity: "Which other pods it should be kept apart from.",
    },
  },
  HostAlias: {
    is: "An entry of the `/etc/hosts` file of the pod's containers.",
    fields: { hostnames: "The names that stand for the address.", ip: "The address." },
  },
  HostIP: { is: "An address of the node that runs the pod.", fields: { ip: "The address." } },
  Pod: { is: "One or more containers that run together on a node.", fields: {} },
  PodAffinity: {
    is: "Which other pods a pod must or should be close to.",
    fields: {
      preferredDuringSchedulingIgnoredDuringExecution:
        "Wishes: the scheduler favors the nodes that meet those with the most weight in sum.",
      requiredDuringSchedulingIgnoredDuringExecution:
        "Conditions that a node must all meet when the pod is scheduled; a running pod is not moved when they no longer hold.",
    },
  },
  PodAffinityTerm: {
    is: "A set of pods, and how wide the place is that counts as near to them.",
    fields: {
      labelSelector: "The labels of the other pods; without a selector no pod is meant.",
      matchLabelKeys: "Keys of labels for which the other pods must have the same value as this pod.",
      mismatchLabelKeys: "Keys of labels for which the other pods must not have the same value as this pod.",
      namespaceSelector:
        "The labels of the namespaces of the other pods, in addition to `namespaces`; an empty selector means all namespaces.",
      namespaces: "The namespaces of the other pods; when there is no `namespaceSelector` either, the pod's own.",
      topologyKey:
        "The label of nodes that bounds a place: nodes with the same value are together. `kubernetes.io/hostname` means the same node.",
    },
  },
  PodAntiAffinity: {
    is: "Which other pods a pod must or should be kept apart from.",
    fields: {
      preferredDuringSchedulingIgnoredDuringExecution:
        "Wishes: the scheduler avoids the nodes near such pods, those with the most weight in sum first.",
      requiredDuringSchedulingIgnoredDuringExecution:
        "Pods that must not be near when the pod is scheduled; a running pod is not moved when one comes near later.",
    },
  },
  PodCondition: {
    is: "Something that is true or false of a pod.",
    fields: {
      ...CONDITION_FIELDS,
      lastProbeTime: "When the condition was last checked; mostly not set.",
      observedGeneration: "The generation of the object that this status is about.",
      type: "What the condition says: PodScheduled, Initialized, ContainersReady, Ready and others.",
    },
  },
  PodDNSConfig: {
    is: "Settings of name resolution, added to those that `dnsPolicy` brings.",
    fields: {
      nameservers: "Addresses of DNS servers, after those that are there already; at most three are used in all.",
      options: "Options of the resolver; one of the same name takes the place of the one that is there already.",
      searches: "Domains in which short names are looked up, after those that are there already.",
    },
  },
  PodDNSConfigOption: {
    is: "An option of the resolver, as in `resolv.conf`.",
    fields: { name: "The option's name, `ndots`.", value: "Its value, `2`; some options have none." },
  },
  PodExtendedResourceClaimStatus: {
    is: "The resource claim that the scheduler made for those extended resources of a pod that DRA drivers provide.",
    fields: {
      requestMappings: "Which request of the claim stands for which resource of which container.",
      resourceClaimName: "The name of the claim, which is in the pod's namespace.",
    },
  },
  PodIP: { is: "An address of a pod.", fields: { ip: "The address." } },
  PodOS: { is: "The operating system that a pod is made for.", fields: { name: "Its name: linux or windows." } },
  PodReadinessGate: {
    is: "A condition that must be true before the pod counts as ready.",
    fields: {
      conditionType: "The type of the condition, which something other than the node agent sets in the pod's status.",
    },
  },
  PodResourceClaim: {
    is: "A resource claim, for devices for instance, that a pod uses.",
    fields: {
      name: "The name by which the pod's containers refer to the claim, a DNS label, unique in the pod.",
      resourceClaimName: "The name of a claim that exists in the pod's namespace; other pods can use it too.",
      resourceClaimTemplateName:
        "The name of a template in the pod's namespace, from which a claim is made that is deleted with the pod.",
    },
  },
  PodResourceClaimStatus: {
    is: "Which claim was made for an entry of the pod's `resourceClaims`.",
    fields: {
      name: "The name of the entry in the pod's spec.",
      resourceClaimName: "The name of the claim that was made from the template; not set when none was needed.",
    },
  },
  PodSchedulingGate: {
    is: "Something that holds back the scheduling of a pod.",
    fields: { name: "The gate's name, unique in the pod." },
  },
  PodSchedulingGroup: {
    is: "The group of pods that a pod is scheduled with.",
    fields: { podGroupName: "The name of the PodGroup, which is in the pod's namespace." },
  },
  PodSecurityContext: {
    is: "The rights of all containers of a pod, and the owner of its volumes. What a container says of itself comes first.",
    fields: {
      appArmorProfile: "The AppArmor profile of the containers.",
      fsGroup:
        "A group that owns the files of the pod's volumes, where the volume allows it, and that all containers' processes belong to.",
      fsGroupChangePolicy:
        "When the owner of a volume's files is changed: Always (the default), or OnRootMismatch, only if the volume's root directory has another.",
      runAsGroup: "The ID of the group that the processes run as; default: the container runtime's.",
      runAsNonRoot: "Whether containers that would run as root are refused; default false.",
      runAsUser: "The ID of the user that the processes run as; default: the user that the image names.",
      seLinuxChangePolicy:
        "How volumes get their SELinux label: Recursive, file by file, or MountOption, at once by an option of the mount.",
      seLinuxOptions: "The SELinux label of the containers; default: one that the container runtime chooses.",
      seccompProfile: "Which system calls the containers may make.",
      supplementalGroups: "IDs of further groups that the processes belong to.",
      supplementalGroupsPolicy:
        "Whether the groups that the image's `/etc/group` gives the user are added: Merge (the default) adds them, Strict does not.",
      sysctls: "Kernel parameters that are set for the pod alone.",
      windowsOptions: "Settings for Windows nodes.",
    },
  },
  PodSpec: {
    is: "What a pod should be.",
    fields: {
      activeDeadlineSeconds: "How long the pod may run before it is stopped and fails.",
      affinity: "Which nodes are wanted, and which other pods nearby.",
      automountServiceAccountToken: "Whether containers get a token of the service account.",
      containers: "The containers of the pod; at least one, and none can be added later.",
      dnsConfig: "Name servers, search domains and options, in addition to those of `dnsPolicy`.",
      dnsPolicy: "Where names are resolved: ClusterFirst, ClusterFirstWithHostNet, Default, None.",
      enableServiceLinks: "Whether containers get the older environment variables about services.",
      ephemeralContainers: "Containers added while the pod runs, to look into it.",
      hostAliases: "Entries added to the `/etc/hosts` file of the containers.",
      hostIPC: "Shares the node's inter-process communication.",
      hostNetwork: "Uses the node's network in place of one of its own.",
      hostPID: "Shares the node's process IDs.",
      hostUsers:
        "Whether user IDs are those of the node; default true. With false, root in the pod is an ordinary user on the node.",
      hostname: "The host name inside the pod; default: the pod's name.",
      hostnameOverride:
        "A host name that takes the place of the one from `hostname` and `subdomain`, of at most 64 characters; DNS records stay as they are.",
      imagePullSecrets: "Secrets with which images may be pulled.",
      initContainers: "Containers that run before the others, one after another.",
      nodeName: "The node that runs the pod. Set by whoever schedules it.",
      nodeSelector: "Labels that the node must have.",
      os: "The operating system that the pod is made for; a node with another one refuses it.",
      overhead: "What the pod needs in addition to its containers, from its runtime class. Set by the server.",
      preemptionPolicy: "Whether pods of lower priority may be evicted for this one.",
      priority: "How important the pod is, from its priority class. Set by the server.",
      priorityClassName: "The name of the pod's priority class.",
      readinessGates: "Further conditions that must be true before the pod is ready.",
      resourceClaims: "The resource claims that the pod uses; its containers refer to them by name.",
      resources: "What all containers together need and may use of CPU, memory and huge pages.",
      restartPolicy: "When containers are started again: Always (the default), OnFailure, Never.",
      runtimeClassName: "In which way the container runtime runs the pod.",
      schedulerName: "Who chooses the node.",
      schedulingGates:
        "The pod is not scheduled while there is one. They can only be set when the pod is created, and removed later.",
      schedulingGroup: "The group of pods that this one is scheduled with. Cannot be changed.",
      securityContext: "The rights of all containers, and of the pod's volumes.",
      serviceAccount: "The older name of `serviceAccountName`, kept equal to it by the server.",
      serviceAccountName: "The identity of the pod's processes towards the API.",
      setHostnameAsFQDN:
        "Whether the host name inside the pod is the fully qualified one, with its domain; default false.",
      shareProcessNamespace: "Lets containers see each other's processes.",
      subdomain: "The domain of the host name.",
      terminationGracePeriodSeconds: "How long containers may take to end after they were asked to; default 30.",
      tolerations: "The taints that do not keep the pod away from a node.",
      topologySpreadConstraints: "How the pods of a set are spread over nodes and zones.",
      volumes: "What containers can mount.",
    },
  },
  PodStatus: {
    is: "What was last seen of a pod. Its node's agent writes it.",
    fields: {
      allocatedResources: "How much of each resource the node has set aside for the whole pod, as requested.",
      conditions: "How far the pod is: PodScheduled, Initialized, ContainersReady, Ready.",
      containerStatuses: "What is known of each container.",
      ephemeralContainerStatuses: "What is known of each ephemeral container.",
      extendedResourceClaimStatus:
        "The resource claim that was made for extended resources of the pod. Set by the scheduler.",
      hostIP: "The first address of the pod's node.",
      hostIPs: "All addresses of the pod's node, at most one for each of IPv4 and IPv6.",
      initContainerStatuses: "What is known of each init container.",
      message: "Why the pod is as it is, for people.",
      nodeAllocatableResourceClaimStatuses:
        "How much of CPU, memory and the like was given to the pod by way of resource claims.",
      nominatedNodeName: "The node on which the scheduler is making room for the pod; it may still end up on another.",
      observedGeneration: "The generation of the object that this status is about.",
      phase: "In one word: Pending, Running, Succeeded, Failed, Unknown.",
      podIP: "The pod's first address.",
      podIPs: "All addresses of the pod, at most one for each of IPv4 and IPv6.",
      qosClass: "How resources are promised: Guaranteed, Burstable, BestEffort.",
      reason: "Why the pod is as it is, in one word, `Evicted`.",
      resize: "No longer used; the conditions PodResizePending and PodResizeInProgress took its place.",
      resourceClaimStatuses: "The names of the claims that were made from templates for this pod.",
      resources: "The requests and limits of the whole pod that are in force, where the spec sets some.",
      startTime: "When the node agent accepted the pod, before it pulled images.",
    },
  },
  PodTemplate: { is: "A pod to be made copies of.", fields: { template: "What the pods are like." } },
  PodTemplateSpec: {
    is: "What pods made from a template are like.",
    fields: { metadata: "The labels and annotations of the pods.", spec: "What the pods should be." },
  },
  SessionAffinityConfig: {
    is: "How long clients of a service stay with the same pod.",
    fields: { clientIP: "The settings for clients told apart by their address." },
  },
  Toleration: {
    is: "A taint of nodes that the pod puts up with.",
    fields: {
      effect: "The effect of the taint: NoSchedule, PreferNoSchedule, NoExecute; any, when empty.",
      key: "The key of the taint; when it is empty, and `operator` is Exists, every taint is tolerated.",
      operator:
        "How the taint's value must relate to `value`: Equal (the default), Exists (any value), or, with an alpha feature, Lt and Gt.",
      tolerationSeconds:
        "How long in seconds the pod stays on a node with such a NoExecute taint; forever when not set.",
      value: "The value to compare the taint's with; empty when `operator` is Exists.",
    },
  },
  TopologySelectorLabelRequirement: {
    is: "A label and the values that it may have.",
    fields: { key: "The key of the label.", values: "The values, one of which the label must have." },
  },
  TopologySelectorTerm: {
    is: "Where volumes may be made, by labels of nodes.",
    fields: { matchLabelExpressions: "Conditions on labels, all of which must hold." },
  },
  TopologySpreadConstraint: {
    is: "How evenly the pods of a set are spread over nodes, zones or the like.",
    fields: {
      labelSelector: "The labels of the pods that are counted.",
      matchLabelKeys: "Keys of labels for which the counted pods must have the same value as this pod.",
      maxSkew: "How many more pods one domain may have than the one with the fewest; at least 1.",
      minDomains:
        "How many domains there should be: while there are fewer, the least number of pods counts as 0. Default 1.",
      nodeAffinityPolicy:
        "Whether only nodes are counted that the pod's affinity and node selector allow: Honor (the default) or Ignore.",
      nodeTaintsPolicy:
        "Whether nodes are left out whose taints the pod does not tolerate: Honor, or Ignore (the default).",
      topologyKey: "The label of nodes that makes the domains: nodes with the same value are in the same one.",
      whenUnsatisfiable:
        "What happens when no node fits: DoNotSchedule lets the pod wait, ScheduleAnyway takes the node with the least skew.",
    },
  },
  WeightedPodAffinityTerm: {
    is: "A wish about other pods, with its weight.",
    fields: {
      podAffinityTerm: "Which pods, and how near.",
      weight: "How much the wish counts against others, 1 to 100.",
    },
  },
};
