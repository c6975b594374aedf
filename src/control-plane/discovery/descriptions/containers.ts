import type { TypeDescriptions } from "../type-description.ts";

/** What containers of every sort have. */
const PROCESS = {
  args: "Arguments of the entry point; the image's are used when there are none. $(NAME) is expanded.",
  command: "The entry point, not run in a shell; the image's is used when there is none.",
  env: "Environment variables.",
  envFrom: "Config maps and secrets of which every key becomes an environment variable.",
  image: "The image to start from, `registry/repository:tag`.",
  imagePullPolicy: "When the image is pulled: Always, Never, IfNotPresent. Always is the default for :latest.",
  securityContext: "The rights that the container runs with, over those of the pod.",
  stdin: "Keeps standard input open.",
  stdinOnce: "Closes standard input when the first client that attached leaves; default false.",
  terminationMessagePath: "The file whose content becomes the container's termination message.",
  terminationMessagePolicy:
    "What the termination message is: File (the default), or FallbackToLogsOnError, the end of the log when the container failed and the file is empty.",
  tty: "Gives the container a terminal.",
  volumeDevices: "Block devices, from persistent volume claims, that appear in the container.",
  workingDir: "The directory that the process starts in.",
};

export const CONTAINER_TYPES: TypeDescriptions = {
  AppArmorProfile: {
    is: "Which AppArmor profile a container runs under.",
    fields: {
      localhostProfile: "The name of a profile that is loaded on the node; only with the type Localhost.",
      type: "RuntimeDefault (the container runtime's own), Localhost (one of the node's) or Unconfined (none).",
    },
  },
  Capabilities: {
    is: "How the Linux capabilities of a container differ from those that the container runtime gives.",
    fields: {
      add: "Capabilities to add, named without the prefix `CAP_`: `NET_ADMIN`. ALL means all of them.",
      drop: "Capabilities to take away, named without the prefix `CAP_`: `NET_RAW`. ALL means all of them.",
    },
  },
  ConfigMapEnvSource: {
    is: "A config map of which every key becomes an environment variable.",
    fields: {
      name: "The name of the config map, which is in the pod's namespace.",
      optional: "Whether the container may start without the config map; default false.",
    },
  },
  ConfigMapKeySelector: {
    is: "A key of a config map.",
    fields: {
      key: "The key.",
      name: "The name of the config map, which is in the pod's namespace.",
      optional: "Whether the container may start without the config map or the key; default false.",
    },
  },
  Container: {
    is: "A process with its own file system, started from an image.",
    fields: {
      ...PROCESS,
      lifecycle: "What to run after the container started and before it is stopped.",
      livenessProbe: "When this check fails, the container is restarted.",
      name: "The container's name, a DNS label, unique in the pod.",
      ports: "The ports that the container listens on, mostly as information.",
      readinessProbe: "While this check fails, no service sends the pod traffic.",
      resizePolicy: "Whether the container is restarted when its CPU or memory is resized.",
      resources: "What the container needs and may use of CPU, memory and other resources.",
      restartPolicy:
        "When this container is restarted, over the pod's policy: Always, OnFailure, Never. Always makes an init container a sidecar that runs as long as the pod.",
      restartPolicyRules: "Exceptions to `restartPolicy` by exit code; the first rule that matches holds. At most 20.",
      startupProbe: "Until this check succeeds the other two are not made.",
      volumeMounts: "The volumes that appear in the container's file system.",
    },
  },
  ContainerExtendedResourceRequest: {
    is: "Which request of a resource claim stands for an extended resource of a container.",
    fields: {
      containerName: "The name of the container.",
      requestName: "The name of the request in the claim.",
      resourceName: "The name of the extended resource.",
    },
  },
  ContainerPort: {
    is: "A port that a container listens on.",
    fields: {
      containerPort: "The port's number in the pod, 1 to 65535.",
      hostIP: "The node's address that `hostPort` is opened on; default: all.",
      hostPort: "A port of the node that leads to the container; with `hostNetwork` the same as `containerPort`.",
      name: "A name for the port, unique in the pod, which services and probes can use.",
      protocol: "TCP (the default), UDP or SCTP.",
    },
  },
  ContainerResizePolicy: {
    is: "What happens to a container when one of its resources is resized.",
    fields: {
      resourceName: "The resource: cpu or memory.",
      restartPolicy: "NotRequired (the default) resizes the running container, RestartContainer restarts it.",
    },
  },
  ContainerRestartRule: {
    is: "When a container that ended is restarted in spite of its restart policy.",
    fields: {
      action: "What is done: Restart (the container), RestartAllContainers (those of the pod).",
      exitCodes: "The exit codes that the rule is about.",
    },
  },
  ContainerRestartRuleOnExitCodes: {
    is: "A set of exit codes.",
    fields: {
      operator: "In: the exit code is one of `values`; NotIn: it is none of them.",
      values: "The exit codes, at most 255 of them.",
    },
  },
  ContainerState: {
    is: "What a container is doing: one of the three is set.",
    fields: {
      running: "Set while the container runs.",
      terminated: "Set when the container has ended.",
      waiting: "Set while the container is yet to start, because its image is pulled for instance.",
    },
  },
  ContainerStateRunning: { is: "A container that runs.", fields: { startedAt: "When it started." } },
  ContainerStateTerminated: {
    is: "A container that has ended.",
    fields: {
      containerID: "The container's ID, `containerd://ID`.",
      exitCode: "Its exit code; 0 means success.",
      finishedAt: "When it ended.",
      message: "The termination message that the container left.",
      reason: "Why it ended, in one word: Completed, Error, OOMKilled.",
      signal: "The number of the signal that ended it, where it is known.",
      startedAt: "When it started.",
    },
  },
  ContainerStateWaiting: {
    is: "A container that is yet to start.",
    fields: {
      message: "Why it waits, for people.",
      reason: "Why it waits, in one word: ContainerCreating, ImagePullBackOff, CrashLoopBackOff.",
    },
  },
  ContainerStatus: {
    is: "What was last seen of a container. Set by the node agent.",
    fields: {
      allocatedResources: "How much of each resource the node has set aside for the container, as requested.",
      allocatedResourcesStatus: "The health of the devices that the container uses.",
      containerID: "The ID of the container, `containerd://ID`.",
      image: "The image that the container runs, as the container runtime names it.",
      imageID: "The ID or digest of the image, as the container runtime resolved it.",
      lastState: "How the container ended before its latest restart.",
      name: "The container's name.",
      ready: "Whether the readiness probe succeeds, or, when there is none, whether the container has started.",
      resources: "The requests and limits that are in force for the container.",
      restartCount: "How often the container was restarted.",
      started:
        "Whether the container has started: its postStart hook is done, and its startup probe, if it has one, has succeeded.",
      state: "What the container is doing: waiting, running or terminated.",
      stopSignal: "The signal that asks the container to stop.",
      user: "The user and the groups that the container's first process started with.",
      volumeMounts: "How the volumes were mounted.",
    },
  },
  ContainerUser: {
    is: "The identity of a container's first process.",
    fields: { linux: "The user and the groups on Linux." },
  },
  EnvFromSource: {
    is: "A config map or a secret of which every key becomes an environment variable.",
    fields: {
      configMapRef: "The config map.",
      prefix: "What is put before each key to make the variable's name.",
      secretRef: "The secret.",
    },
  },
  EnvVar: {
    is: "An environment variable of a container.",
    fields: {
      name: "The variable's name.",
      value: "Its value; $(NAME) of earlier variables is expanded.",
      valueFrom: "Where the value comes from, in place of `value`.",
    },
  },
  EnvVarSource: {
    is: "Where the value of an environment variable comes from: one of these.",
    fields: {
      configMapKeyRef: "A key of a config map.",
      fieldRef:
        "A field of the pod: its name, namespace, UID, node, service account, addresses, or one of its labels or annotations.",
      fileKeyRef: "A variable of an environment file in a volume.",
      resourceFieldRef: "A request or limit of a container: of cpu, memory, ephemeral-storage or huge pages.",
      secretKeyRef: "A key of a secret.",
    },
  },
  EphemeralContainer: {
    is: "A container added to a running pod, to look into it. It is never restarted and cannot be removed.",
    fields: {
      ...PROCESS,
      lifecycle: "Not allowed in ephemeral containers.",
      livenessProbe: "Not allowed in ephemeral containers.",
      name: "The container's name, a DNS label, unique among all containers of the pod.",
      ports: "Not allowed in ephemeral containers.",
      readinessProbe: "Not allowed in ephemeral containers.",
      resizePolicy: "Not allowed in ephemeral containers.",
      resources: "Not allowed in ephemeral containers; they use what the pod has left.",
      restartPolicy: "Not allowed in ephemeral containers.",
      restartPolicyRules: "Not allowed in ephemeral containers.",
      startupProbe: "Not allowed in ephemeral containers.",
      targetContainerName:
        "The container of the pod whose processes this one sees, if the container runtime supports it.",
      volumeMounts: "The volumes that appear in the container's file system, without `subPath`.",
    },
  },
  ExecAction: {
    is: "A command that is run in the container.",
    fields: { command: "The command and its arguments, not run in a shell; the exit code 0 means success." },
  },
  FileKeySelector: {
    is: "A variable in an environment file, which an init container may have written.",
    fields: {
      key: "The name of the variable in the file.",
      optional: "Whether the container may start without the key; default false.",
      path: "The file's path in the volume, relative and without `..`.",
      volumeName: "The name of the volume that holds the file, an emptyDir.",
    },
  },
  GRPCAction: {
    is: "A health check by gRPC, in the standard protocol for it.",
    fields: {
      port: "The number of the port.",
      service: "The name of the service that is asked about; empty by default.",
    },
  },
  HTTPGetAction: {
    is: "An HTTP GET request; an answer from 200 to 399 means success.",
    fields: {
      host: "The host to connect to; default: the pod's address.",
      httpHeaders: "Headers of the request.",
      path: "The path; default `/`.",
      port: "The port, by number or by its name in the container.",
      scheme: "HTTP (the default) or HTTPS, whose certificate is not verified.",
    },
  },
  HTTPHeader: {
    is: "A header of an HTTP request.",
    fields: { name: "The header's name; case does not matter.", value: "The header's value." },
  },
  Lifecycle: {
    is: "What is done at the start and at the end of a container.",
    fields: {
      postStart:
        "Done right after the container has started; if it fails, the container is killed, and restarted as its policy says.",
      preStop: "Done before the container is asked to stop; the time it takes counts towards the grace period.",
      stopSignal:
        "The signal that asks the container to stop, `SIGUSR1`; default: the image's or the container runtime's. Needs the pod's `os`.",
    },
  },
  LifecycleHandler: {
    is: "What a lifecycle hook does: one of these.",
    fields: {
      exec: "Runs a command in the container.",
      httpGet: "Makes an HTTP request.",
      sleep: "Waits for a while.",
      tcpSocket: "Not supported: a hook with it fails. Kept for older objects.",
    },
  },
  LinuxContainerUser: {
    is: "The identity of a process on Linux.",
    fields: {
      gid: "The ID of its primary group.",
      supplementalGroups: "The IDs of its further groups.",
      uid: "The ID of its user.",
    },
  },
  Probe: {
    is: "A check that is made again and again while a container runs.",
    fields: {
      exec: "Runs a command in the container.",
      failureThreshold: "How many checks in a row must fail before the probe counts as failed; default 3.",
      grpc: "Asks a gRPC health service.",
      httpGet: "Makes an HTTP request.",
      initialDelaySeconds: "How long in seconds after the container's start the first check is made; default 0.",
      periodSeconds: "How often the check is made, in seconds; default 10.",
      successThreshold:
        "How many checks in a row must succeed after a failure; default 1, and always 1 for liveness and startup probes.",
      tcpSocket: "Opens a TCP connection.",
      terminationGracePeriodSeconds:
        "How long in seconds the container may take to end when the probe has failed; default: the pod's. Not for readiness probes.",
      timeoutSeconds: "How long a check may take, in seconds; default 1.",
    },
  },
  ResourceClaim: {
    is: "A resource claim of the pod that a container uses.",
    fields: {
      name: "The claim's name in the pod's `resourceClaims`.",
      request: "The request of the claim that is used; default: everything in it.",
    },
  },
  ResourceFieldSelector: {
    is: "A request or limit of a container.",
    fields: {
      containerName: "The container; needed in volumes. In environment variables the default is the container itself.",
      divisor: "The unit that the value is given in, rounded up, `1Mi`; default 1.",
      resource: "The resource, `limits.cpu` or `requests.memory`.",
    },
  },
  ResourceHealth: {
    is: "The health of a device.",
    fields: {
      health: "Healthy, Unhealthy or Unknown.",
      message: "Why, for people, if the driver says so.",
      resourceID: "Which device it is: the ID of its device plugin, or `DRIVER/POOL/DEVICE` of a claim.",
    },
  },
  ResourceRequirements: {
    is: "How much of each resource a container is promised, and how much it may use at most.",
    fields: {
      claims: "The pod's resource claims that the container uses.",
      limits: "The most of each resource that may be used.",
      requests: "How much of each resource is promised.",
    },
  },
  ResourceStatus: {
    is: "The health of the devices that a container has of one resource.",
    fields: { name: "The resource's name, or `claim:CLAIM/REQUEST`.", resources: "The devices and their health." },
  },
  ScopedResourceSelectorRequirement: {
    is: "Which objects of a scope a quota counts.",
    fields: {
      operator: "In, NotIn, Exists or DoesNotExist.",
      scopeName:
        "The scope: Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass, CrossNamespacePodAffinity, VolumeAttributesClass.",
      values: "The values for In and NotIn, names of priority classes for instance; none for the other operators.",
    },
  },
  ScopeSelector: {
    is: "Which objects a quota counts.",
    fields: { matchExpressions: "Conditions, all of which an object must meet." },
  },
  SeccompProfile: {
    is: "Which system calls a container may make.",
    fields: {
      localhostProfile:
        "The profile's file, relative to the node agent's directory of seccomp profiles; only with the type Localhost.",
      type: "RuntimeDefault (the container runtime's own), Localhost (one of the node's) or Unconfined (none).",
    },
  },
  SecretEnvSource: {
    is: "A secret of which every key becomes an environment variable.",
    fields: {
      name: "The name of the secret, which is in the pod's namespace.",
      optional: "Whether the container may start without the secret; default false.",
    },
  },
  SecretKeySelector: {
    is: "A key of a secret.",
    fields: {
      key: "The key.",
      name: "The name of the secret, which is in the pod's namespace.",
      optional: "Whether the container may start without the secret or the key; default false.",
    },
  },
  SecurityContext: {
    is: "With which rights a container runs.",
    fields: {
      allowPrivilegeEscalation:
        "Whether a process can gain more rights than its parent, by setuid programs for instance; default true.",
      appArmorProfile: "The AppArmor profile of the container; default: the pod's.",
      capabilities: "Linux capabilities to add or take away.",
      privileged: "Whether the container's processes have all rights on the node, much like root there; default false.",
      procMount:
        "Which parts of `/proc` are hidden: Default (those that the container runtime hides) or Unmasked (none), which needs `hostUsers: false`.",
      readOnlyRootFilesystem: "Whether the container cannot write to its root file system; default false.",
      runAsGroup: "The ID of the group that the process runs as; default: the pod's, else the container runtime's.",
      runAsNonRoot: "Whether the container is refused if it would run as root; default: the pod's.",
      runAsUser: "The ID of the user that the process runs as; default: the pod's, else the one that the image names.",
      seLinuxOptions: "The SELinux label of the container; default: the pod's.",
      seccompProfile: "Which system calls the container may make; default: the pod's.",
      windowsOptions: "Settings for Windows nodes; default: the pod's.",
    },
  },
  SELinuxOptions: {
    is: "An SELinux label, part by part.",
    fields: { level: "The level, `s0:c123,c456`.", role: "The role.", type: "The type.", user: "The SELinux user." },
  },
  SleepAction: { is: "A pause.", fields: { seconds: "How long, in seconds." } },
  Sysctl: {
    is: "A kernel parameter.",
    fields: { name: "The parameter's name, `net.ipv4.ip_local_port_range`.", value: "Its value." },
  },
  TCPSocketAction: {
    is: "A TCP connection; that it can be opened means success.",
    fields: {
      host: "The host to connect to; default: the pod's address.",
      port: "The port, by number or by its name in the container.",
    },
  },
  VolumeDevice: {
    is: "Where in a container a block device appears.",
    fields: {
      devicePath: "The path of the device in the container.",
      name: "The name of the volume, which is a persistent volume claim.",
    },
  },
  VolumeMount: {
    is: "Where in a container a volume appears.",
    fields: {
      mountPath: "The path in the container; no colon in it.",
      mountPropagation:
        "Whether later mounts are passed on: None (the default), HostToContainer, or Bidirectional, which needs a privileged container.",
      name: "The name of the volume.",
      readOnly: "Whether the container can only read.",
      recursiveReadOnly:
        "Whether mounts below a read-only one are read-only too: Disabled (the default), IfPossible, Enabled.",
      subPath: "The part of the volume that is mounted; default: all of it.",
      subPathExpr: "Like `subPath`, in which $(NAME) of environment variables is expanded.",
    },
  },
  VolumeMountStatus: {
    is: "How a volume was mounted in a container. Set by the node agent.",
    fields: {
      mountPath: "The path in the container.",
      name: "The name of the volume.",
      readOnly: "Whether the container can only read.",
      recursiveReadOnly: "Whether mounts below are read-only too: Disabled or Enabled.",
      volumeStatus: "What is known of a volume of this type.",
    },
  },
  WindowsSecurityContextOptions: {
    is: "With which rights a container runs on Windows.",
    fields: {
      gmsaCredentialSpec:
        "The content of the group-managed service account's credential spec, mostly filled in by a webhook.",
      gmsaCredentialSpecName: "The name of that credential spec.",
      hostProcess:
        "Whether the container runs as a process of the node; the same for all containers of a pod, and only with `hostNetwork`.",
      runAsUserName: "The Windows user that the process runs as; default: the one that the image names.",
    },
  },
};
