/** What went wrong, as it was told. */
interface Trouble {
  readonly namespace: string;
  readonly reason: string;
  readonly message: string;
}

/** The groups of a match, by their numbers; "" for those that are not there. */
type Mend = (group: (number: number) => string, trouble: Trouble) => string;

/** How what is told of a pull begins, by the node and in its events. */
const PULL =
  "^(?:ErrImagePull|ImagePullBackOff|RegistryUnavailable|Failed: (?:Failed to pull image|Error: ErrImagePull))";
const pull = (words: string) => new RegExp(`${PULL}.*(?:${words})`, "is");

/** The first row whose expression fits `reason: message` says what to do. */
const MENDS: ReadonlyArray<readonly [trouble: RegExp, mend: Mend]> = [
  [
    /^ResizeDeferred/,
    () =>
      "Other pods hold what the resize asks for: it is granted by itself when they give it back. Lower it, or make room.",
  ],
  [
    /^ResizeInfeasible/,
    () => "This node can never grant the resize: ask for less, or make the pod anew on a node that has as much.",
  ],
  [
    /^ResizeError/,
    () => "The node tries the resize again by itself; see whether the program needs more than was asked for.",
  ],
  [
    /exceeded quota/,
    (_, { namespace }) =>
      `Remove what uses the namespace's quota, or raise it: kubectl describe quota -n ${namespace}.`,
  ],
  [
    /is forbidden: failed quota: .*must specify (\S+)/,
    (group) =>
      `A quota of the namespace counts this: give the containers ${group(1)}, or the namespace a LimitRange with defaults.`,
  ],
  [
    /violates PodSecurity "([^:"]+)/,
    (group, { namespace }) =>
      `Change the template of the pod as the list says, or let the namespace take more than ${group(1)}: kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=LEVEL.`,
  ],
  [
    /fail(?:ed|ing) (?:calling )?webhook "([^"]+)"/,
    (group) =>
      `The webhook ${group(1)} does not answer: see whether its server runs and is reached. Its configuration (kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations) can let requests through meanwhile: failurePolicy: Ignore.`,
  ],
  [
    /admission webhook "([^"]+)" denied the request/,
    (group) =>
      `The webhook ${group(1)} refuses the pod: change its template as that says, or ask whoever runs the webhook.`,
  ],
  [
    /ValidatingAdmissionPolicy '([^']+)'/,
    (group) => `The policy ${group(1)} refuses the pod: change its template as that says, or change the policy.`,
  ],
  [
    /serviceaccount "([^"]+)" not found/i,
    (group, { namespace }) =>
      `Make it: kubectl create serviceaccount -n ${namespace} ${group(1)}. The pods come by themselves then.`,
  ],
  [
    /^Unscheduled: Its scheduler, (\S+), has/,
    (group) => `See whether the scheduler ${group(1)} runs, or take schedulerName out of the pod's template.`,
  ],
  [
    /PodCertificateRequest .*(denied|failed)/,
    (_, { namespace }) =>
      `The signer of the pod's certificate refuses for good: mend what it says, and make the pod anew in the namespace ${namespace}.`,
  ],
  [
    /credential bundle is not issued yet/,
    (_, { namespace }) =>
      `See whether the signer of the pod's certificate runs: kubectl get podcertificaterequests -n ${namespace}. The pod goes on by itself when it answers.`,
  ],
  [
    /secret "([^"]+)" not found|object "[^"/]*"\/"([^"]+)" not registered/i,
    (group, { namespace }) =>
      `Make the secret ${group(1) || group(2)} in the namespace ${namespace}; the pod goes on by itself then.`,
  ],
  [
    /configmap "([^"]+)" not found/i,
    (group, { namespace }) =>
      `Make the config map ${group(1)} in the namespace ${namespace}; the pod goes on by itself then.`,
  ],
  [
    /couldn't find key (\S+) in (Secret|ConfigMap) (\S+)|references non-existent (secret|config) key: (\S+)/i,
    (group) => `Add the key ${group(1) || group(5)} to the ${group(2) || group(4)} ${group(3)}`.trimEnd().concat("."),
  ],
  [
    /persistentvolumeclaim "([^"]+)" not found/i,
    (group, { namespace }) => `Make the claim ${group(1)} in the namespace ${namespace}.`,
  ],
  [
    /unbound immediate PersistentVolumeClaims|unbound PersistentVolumeClaim/i,
    (_, { namespace }) =>
      `See what the claims wait for: kubectl describe pvc -n ${namespace}. They need a volume that fits, or a storage class that makes one.`,
  ],
  [
    pull("invalid reference format|failed to parse image reference"),
    () => "Mend the image's name in the pod's template: it cannot be parsed.",
  ],
  [
    pull("unauthorized|authorization failed|denied|no basic auth|403 Forbidden|401"),
    () => "Give the pod credentials for the registry (imagePullSecrets), or check those it has and the image's name.",
  ],
  [
    pull("not found|manifest unknown|no match for platform"),
    () => "Check the image's name and tag; the registry has no such image for this machine.",
  ],
  [
    pull("no such host|timeout|timed out|connection refused|unreachable|dial tcp|x509|tls:"),
    () =>
      "The node does not reach the registry: check its name, the node's network, proxy and the registry's certificate.",
  ],
  [
    /ErrImageNeverPull/,
    () =>
      "The image is not on the node and imagePullPolicy is Never: load it (nodelet images load FILE), or let it be pulled.",
  ],
  [/InvalidImageName/, () => "Mend the image's name in the pod's template: it cannot be parsed."],
  [/ErrImagePull|ImagePullBackOff/, () => "Check the image's name, the registry, and the pod's imagePullSecrets."],
  [
    /untolerated taint\(?s?\)? ?\{([^}:]+)|TaintToleration refuses [^{]*\{([^}:=]+)/,
    (group) => `Give the pod a toleration for the taint ${group(1) || group(2)}, or remove the taint from the node.`,
  ],
  [
    /untolerated taint/,
    () => "Give the pod tolerations for the taints of the nodes (kubectl describe nodes), or remove the taints.",
  ],
  [/node\(s\) were unschedulable/, () => "Nodes are cordoned; let them take pods again: kubectl uncordon NODE."],
  [
    /Insufficient ([\w/-]+(?:\.[\w/-]+)*)|OutOf([\w/-]+(?:\.[\w/-]+)*)/,
    (group) =>
      `Lower the pod's requests of ${group(1) || group(2)}, or make room: other pods hold what the nodes have.`,
  ],
  [/Too many pods/, () => "Remove pods, or raise maxPods in the node's configuration."],
  [
    /didn't match Pod's node affinity\/selector|NodeAffinity/,
    () => "No node has the labels that the pod's nodeSelector or affinity asks for: label one, or change the pod.",
  ],
  [/didn't have free ports|NodePorts/, () => "Another pod has the host port: remove it, or choose another port."],
  [/SchedulingGated/, () => "Remove the pod's schedulingGates; whoever set them has not done so yet."],
  [
    /OOMKilled/,
    () => "Raise the container's memory limit, or make the program use less: the kernel ended it at the limit.",
  ],
  [
    /executable file not found|no such file or directory: unknown|exec format error/i,
    () => "Check the container's command and args, and that the image is for this machine's architecture.",
  ],
  [
    /runAsNonRoot/,
    () => "The image runs as root and the pod forbids that: set runAsUser, or use an image with another user.",
  ],
  [
    /RuntimeClass "?([^"\s]+)"?.*not found|failed to lookup RuntimeClass ([^\s:]+)/i,
    (group) => `Make the runtime class ${group(1) || group(2)}, or take runtimeClassName out of the pod.`,
  ],
  [
    /hostPath (?:type check failed: )?(\S+) (?:is not|doesn't exist)/,
    (group) => `Make ${group(1)} on the node as what the volume's type says, or change the type.`,
  ],
  [
    /driver (\S+) (?:\(no CSIDriver object\)|not found in the list of registered CSI drivers)/,
    (group) => `Install the CSI driver ${group(1)}: it is not on this node. The pod goes on by itself then.`,
  ],
  [
    /unknown filesystem type '([\w.-]+)'|need a \/sbin\/mount\.<type> helper program/,
    (group) =>
      `Install what mounts ${group(1) || "this file system"} on the node, as nfs-common does for nfs. The pod goes on by itself then.`,
  ],
  [
    /^NotTaken: The node (\S+) has/,
    (group) => `See whether that node is there and runs: kubectl get node ${group(1)}.`,
  ],
  [
    /(Liveness|Readiness|Startup) probe (failed|errored)/,
    (group) =>
      `See what the program answers, and whether the ${group(1).toLowerCase()} probe asks the right port and path and leaves it enough time.`,
  ],
  [/FailedPostStartHook|PostStartHookError/, () => "See what the postStart hook of the container does: it failed."],
  [/FailedPreStopHook/, () => "See what the preStop hook of the container does: it failed."],
  [
    /DeadlineExceeded/,
    () => "The pod ran for longer than activeDeadlineSeconds: raise it, or see why the work takes so long.",
  ],
  [
    /Evicted.*(low on resource: ([\w-]+)|exceeds|exceeded)/s,
    (group) =>
      group(2) === ""
        ? "The pod wrote more than its limit of ephemeral storage allows: raise the limit, or write less."
        : `Give the pod a request of ${group(2)} that covers what it uses, or make room on the node.`,
  ],
  [
    /FailedCreatePodSandBox.*(cni|network)/is,
    () => "The pod's network could not be set up: look at the CNI plugin of the node and its configuration.",
  ],
  [
    /CrashLoopBackOff(?:.* pod=([^_\s]+)_)?/s,
    (group, { namespace }) =>
      `See what the program last said: kubectl logs --previous -n ${namespace} ${group(1) || "POD"}.`,
  ],
];

/** Says what to do about a trouble; undefined where that is not known. */
export function findMend(trouble: Trouble): string | undefined {
  const text = `${trouble.reason}: ${trouble.message}`;
  for (const [expression, mend] of MENDS) {
    const match = expression.exec(text);
    if (match !== null) return mend((number) => match[number] ?? "", trouble);
  }
  return undefined;
}
