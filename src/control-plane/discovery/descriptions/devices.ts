import type { TypeDescriptions } from "../type-description.ts";

export const DEVICE_TYPES: TypeDescriptions = {
  AllocatedDeviceStatus: {
    is: "What a driver reports about an allocated device.",
    fields: {
      conditions: "The conditions of the device, at most 8; Ready is True once the driver has set it up.",
      data: "Anything that the driver wants to tell, at most 10 KiB.",
      device: "The name of the device in its pool.",
      driver: "The driver of the device.",
      networkData: "What is known about the device as a network interface.",
      pool: "The pool of the device.",
      shareID: "Which share of the device it is, if the device is shared.",
    },
  },
  AllocationResult: {
    is: "What a claim got.",
    fields: {
      allocationTimestamp: "When the devices were allocated; missing if unknown.",
      devices: "The devices and their configuration.",
      nodeSelector: "The nodes on which the devices can be used; default all.",
    },
  },
  CapacityRequestPolicy: {
    is: "Which amounts of a shared device's capacity can be taken; at most one of `validRange` and `validValues` is set.",
    fields: {
      default: "How much is taken for a request that names no amount.",
      validRange: "The smallest and largest amount and the steps between them. `default` must be among them.",
      validValues:
        "The amounts that can be taken, in ascending order, at most 10; requests are rounded up. `default` must be among them.",
    },
  },
  CapacityRequestPolicyRange: {
    is: "Amounts of a capacity between a smallest and a largest one.",
    fields: {
      max: "The largest amount; a device cannot serve a request for more. Default no limit but the capacity.",
      min: "The smallest amount; requests for less are rounded up to it.",
      step: "Requests are rounded up to `min` and a multiple of this; default they are not.",
    },
  },
  CapacityRequirements: {
    is: "How much a device must offer.",
    fields: {
      requests:
        "How much of each capacity a device must offer at least, by the capacity's name; from a shared device this much is taken.",
    },
  },
  CELDeviceSelector: {
    is: "A condition in CEL on a device.",
    fields: {
      expression:
        "A CEL expression that yields true for a suitable device; it sees `device` with `driver`, `attributes` and `capacity`.",
    },
  },
  Counter: { is: "An amount that devices of a pool draw on.", fields: { value: "The amount." } },
  CounterSet: {
    is: "Amounts that devices of a pool draw on together, such as the memory of a card that can be divided.",
    fields: { counters: "The amounts by name, at most 32.", name: "The name of the set, unique in the pool." },
  },
  Device: {
    is: "A device that a driver offers.",
    fields: {
      allNodes: "Whether the device can be used on every node. Only if the slice sets `perDeviceNodeSelection`.",
      allowMultipleAllocations: "Whether several requests can share the device, each taking some of its capacity.",
      attributes:
        "What is known about the device, by name, for selectors and constraints; at most 32 together with `capacity`.",
      bindingConditions:
        "Conditions of the device, at most 4, which must all be True before a pod is bound to its node.",
      bindingFailureConditions:
        "Conditions of the device, at most 4; if one is True, the pod cannot be bound to its node.",
      bindsToNode: "Whether the allocation is good only for the node that was chosen with it.",
      capacity: "How much the device has of what, by name; at most 32 together with `attributes`.",
      consumesCounters: "What the device draws from the counter sets of its pool, from at most 2 of them.",
      name: "The name of the device, unique in its pool.",
      nodeAllocatableResourceMappings:
        "How much of the node's own resources, such as `cpu` and `memory`, goes with the device, by resource.",
      nodeName: "The node on which the device can be used. Only if the slice sets `perDeviceNodeSelection`.",
      nodeSelector: "The nodes on which the device can be used. Only if the slice sets `perDeviceNodeSelection`.",
      taints: "What keeps away claims that do not tolerate it; at most 16.",
    },
  },
  DeviceAllocationConfiguration: {
    is: "A configuration for a driver, as it was when devices were allocated.",
    fields: {
      opaque: "The configuration, in a form that its driver knows.",
      requests: "The names of the requests that it is for; default all.",
      source: "Where it comes from: FromClass or FromClaim.",
    },
  },
  DeviceAllocationResult: {
    is: "The devices that a claim got, and their configuration.",
    fields: {
      config: "The configurations from the classes and from the claim; drivers use their own.",
      results: "The devices, at most 32.",
    },
  },
  DeviceAttribute: {
    is: "Something that is known about a device; exactly one field is set.",
    fields: {
      bool: "True or false.",
      bools: "A list of true and false.",
      int: "A whole number.",
      ints: "A list of whole numbers.",
      string: "A string of at most 64 characters.",
      strings: "A list of strings of at most 64 characters each.",
      version: "A semantic version of at most 64 characters, such as `1.2.3`.",
      versions: "A list of semantic versions of at most 64 characters each.",
    },
  },
  DeviceCapacity: {
    is: "How much a device has of something.",
    fields: {
      requestPolicy: "Which amounts can be taken if the device can be shared; default any.",
      value: "How much there is in all, however much is taken.",
    },
  },
  DeviceClaim: {
    is: "Which devices are wanted, and how they are to be configured.",
    fields: {
      config: "Configurations for drivers, at most 32.",
      constraints: "What must hold for the devices together, at most 32 constraints.",
      requests: "The requests, at most 32, all of which must be met.",
    },
  },
  DeviceClaimConfiguration: {
    is: "A configuration for a driver, as part of a claim.",
    fields: {
      opaque: "The configuration, in a form that its driver knows.",
      requests: "The names of the requests that it is for; default all.",
    },
  },
  DeviceClass: {
    is: "A class of devices that claims can ask for.",
    fields: { spec: "Which devices are in the class, and how they are configured." },
  },
  DeviceClassConfiguration: {
    is: "A configuration for a driver, as part of a class.",
    fields: { opaque: "The configuration, in a form that its driver knows." },
  },
  DeviceClassSpec: {
    is: "Which devices are in a class, and how they are configured.",
    fields: {
      config: "Configurations for drivers, at most 32, for every device that is allocated from the class.",
      extendedResourceName:
        "The name of an extended resource; pods that request it get devices of the class without writing a claim.",
      selectors: "Conditions, at most 32, all of which a device must meet to be in the class.",
    },
  },
  DeviceConstraint: {
    is: "What must hold for several devices of a claim together; exactly one attribute is named.",
    fields: {
      distinctAttribute: "The attribute, with its domain, in which the devices must all differ.",
      matchAttribute:
        "The attribute, with its domain, in which the devices must all agree, such as `example.com/numa`.",
      requests: "The names of the requests whose devices are meant; default all.",
    },
  },
  DeviceCounterConsumption: {
    is: "What a device draws from a counter set.",
    fields: { counterSet: "The name of the counter set.", counters: "The amounts by name, at most 32." },
  },
  DeviceRequest: {
    is: "A request for devices; exactly one of `exactly` and `firstAvailable` is set.",
    fields: {
      exactly: "What is wanted.",
      firstAvailable: "Alternatives, at most 8, the preferred one first; the first that can be met counts.",
      name: "The name of the request, by which containers, constraints and configurations refer to it.",
    },
  },
  DeviceRequestAllocationResult: {
    is: "A device that a request got.",
    fields: {
      adminAccess: "Whether the device was allocated for administration, although others may use it.",
      bindingConditions: "The device's `bindingConditions` when it was allocated.",
      bindingFailureConditions: "The device's `bindingFailureConditions` when it was allocated.",
      consumedCapacity: "How much is taken of a shared device's capacity, by name.",
      device: "The name of the device in its pool.",
      driver: "The driver of the device.",
      pool: "The pool of the device.",
      request: "The name of the request, or `REQUEST/NAME` for one of its alternatives.",
      shareID: "Which share of the device it is, if the device is shared.",
      tolerations: "The tolerations of the request when the device was allocated.",
    },
  },
  DeviceSelector: { is: "A condition on a device.", fields: { cel: "The condition in CEL." } },
  DeviceSubRequest: {
    is: "One of the alternatives of a request for devices.",
    fields: {
      allocationMode: "ExactCount (default) asks for `count` devices, All for every suitable one.",
      capacity: "How much each device must offer.",
      count: "How many devices are wanted with ExactCount, default 1.",
      deviceClassName: "The class of the devices.",
      name: "The name of the alternative; it is referred to as `REQUEST/NAME`.",
      selectors: "Conditions, at most 32, all of which a device must meet besides those of the class.",
      tolerations: "Which taints of devices are accepted, at most 16 tolerations.",
    },
  },
  DeviceTaint: {
    is: "Keeps claims that do not tolerate it away from a device.",
    fields: {
      effect: "None has no effect, NoSchedule keeps new pods away, NoExecute also evicts running ones.",
      key: "The key of the taint.",
      timeAdded: "When the taint was added. Set by the server if missing.",
      value: "The value of the taint.",
    },
  },
  DeviceToleration: {
    is: "Accepts taints of devices.",
    fields: {
      effect: "The effect that is tolerated, NoSchedule or NoExecute; empty means every one.",
      key: "The key of the taint; empty means every one, with the operator Exists.",
      operator: "Equal (default) compares the value, Exists takes any.",
      tolerationSeconds: "How long NoExecute is tolerated, in seconds; default for ever.",
      value: "The value of the taint; empty with the operator Exists.",
    },
  },
  ExactDeviceRequest: {
    is: "What a request for devices wants.",
    fields: {
      adminAccess:
        "Whether the devices are for administration, even those that others use. Only in namespaces with the label `resource.kubernetes.io/admin-access`.",
      allocationMode: "ExactCount (default) asks for `count` devices, All for every suitable one.",
      capacity: "How much each device must offer.",
      count: "How many devices are wanted with ExactCount, default 1.",
      deviceClassName: "The class of the devices.",
      selectors: "Conditions, at most 32, all of which a device must meet besides those of the class.",
      tolerations: "Which taints of devices are accepted, at most 16 tolerations.",
    },
  },
  NetworkDeviceData: {
    is: "What is known about a device as a network interface.",
    fields: {
      hardwareAddress: "The hardware address, such as a MAC address.",
      interfaceName: "The name of the interface, usually the one in the pod.",
      ips: "The addresses with their prefix lengths, such as `192.0.2.5/24`; at most 16.",
    },
  },
  NodeAllocatableResourceMapping: {
    is: "How much of a resource of the node goes with a device.",
    fields: {
      allocationMultiplier: "The amount for each device, or for each unit of the capacity; default 1.",
      capacityKey: "The capacity of the device whose taken amount counts; without it, the number of devices counts.",
    },
  },
  OpaqueDeviceConfiguration: {
    is: "A configuration in a form that only its driver knows.",
    fields: { driver: "The driver that the configuration is for.", parameters: "The configuration, at most 10 KiB." },
  },
  ResourceResourceClaim: {
    is: "Asks for devices that pods can use.",
    fields: {
      spec: "Which devices are wanted. Cannot be changed.",
      status: "Which devices the claim got, and who uses them.",
    },
  },
  ResourceClaimConsumerReference: {
    is: "Who may use a claim, usually a pod.",
    fields: {
      apiGroup: "The API group of the object; empty for the core group.",
      name: "The name of the object.",
      resource: "The resource of the object in plural, such as `pods`.",
      uid: "The UID of the object.",
    },
  },
  ResourceClaimSpec: { is: "Which devices are wanted.", fields: { devices: "The requests for devices." } },
  ResourceClaimStatus: {
    is: "Which devices a claim got, and who uses them.",
    fields: {
      allocation: "What the claim got; missing while it has nothing.",
      devices: "What the drivers report about the devices.",
      reservedFor: "Who may use the claim now, at most 256; while there is anyone, the claim keeps its devices.",
    },
  },
  ResourceClaimTemplate: {
    is: "A pattern from which each pod that names it gets a claim of its own.",
    fields: { spec: "What the claims are like. Cannot be changed." },
  },
  ResourceClaimTemplateSpec: {
    is: "What the claims that are made from a template are like.",
    fields: {
      metadata: "Labels and annotations that the claims get; nothing else is allowed.",
      spec: "Which devices each claim asks for.",
    },
  },
  ResourcePool: {
    is: "The pool that the devices of a slice belong to.",
    fields: {
      generation: "Counts the changes of the pool; only slices with the highest number are valid.",
      name: "The name of the pool, often that of its node.",
      resourceSliceCount: "How many slices the pool has in this generation.",
    },
  },
  ResourceSlice: { is: "Devices that a driver offers.", fields: { spec: "The devices, and where they can be used." } },
  ResourceSliceSpec: {
    is: "Devices that a driver offers; exactly one of `nodeName`, `nodeSelector`, `allNodes` and `perDeviceNodeSelection` is set.",
    fields: {
      allNodes: "Whether the devices can be used on every node.",
      devices:
        "The devices, at most 128, or 64 if one of them has taints, counters or lists as attributes. Not together with `sharedCounters`.",
      driver: "The driver that offers the devices. Cannot be changed.",
      nodeName: "The node on which the devices can be used. Cannot be changed.",
      nodeSelector: "The nodes on which the devices can be used, in a single term.",
      perDeviceNodeSelection: "Whether each device says for itself on which nodes it can be used.",
      pool: "The pool that the devices belong to.",
      sharedCounters: "Amounts that devices of the pool draw on, at most 8 sets. Not together with `devices`.",
    },
  },
};
