import type { Node } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { composeRuntimeStart, removeRuntime, write } from "./machine-runtime.ts";
import { createPod, deletePods, readPod, untilReady, whoRuns } from "./pods.ts";
import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { installService, untilServiceAnswers } from "./service.ts";

const STATE = "/var/lib/nodelet";
const CONTROL_PLANE = "vm-control-plane";
const IMAGES = [PAUSE_IMAGE, DEMO_IMAGE];
const RESOURCES = { requests: { cpu: "50m", memory: "24Mi" }, limits: { cpu: "200m", memory: "48Mi" } };
/** What the kernel keeps a pod to, and its container, by the files of either version of cgroups. */
const FILES = "cpu.max cpu.weight memory.max memory.oom.group pids.max memory.limit_in_bytes";
/** The root of the memory controller, which has a tree of its own in version 1. */
const CGROUPS = "/sys/fs/cgroup$([ -e /sys/fs/cgroup/cgroup.controllers ] || echo /memory)";

/** What kubeadm 1.36 writes for its kubelet when a machine joins, and what a kubelet needs on a machine with version 1 of cgroups. */
const CONFIGURATION = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: { enabled: false }
  webhook: { cacheTTL: 0s, enabled: true }
  x509: { clientCAFile: /etc/kubernetes/pki/ca.crt }
authorization:
  mode: Webhook
  webhook: { cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s }
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging: { flushFrequency: 0, options: { json: { infoBufferSize: "0" }, text: { infoBufferSize: "0" } }, verbosity: 0 }
failCgroupV1: false
failSwapOn: false
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;
const FLAGS = `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock --node-labels=joined-by=kubeadm"`;
const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{ name: vm, cluster: { server: "https://127.0.0.1:6443", certificate-authority: /etc/kubernetes/pki/ca.crt } }]
users:
- name: default-auth
  user: { client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem, client-key: /var/lib/kubelet/pki/kubelet-client-current.pem }
contexts: [{ name: default, context: { cluster: vm, user: default-auth } }]
current-context: default
`;

/** Who is the machine's kubelet, by what the node says of itself, and how it came to be. */
const SWAPS = [
  {
    order: "systemctl stop kubelet; nodelet install --as-kubelet --replace && systemctl start kubelet",
    version: /\+nodelet/,
  },
  { order: "nodelet uninstall", version: /^v[\d.]+$/ },
] as const;

/** A machine that somebody made a node of with kubeadm, on systemd and version 2 of cgroups: most nodes that there are. */
export const kubeletSwap: Scenario = {
  name: "kubelet-swap",
  promise:
    "nodelet takes the place of a Go kubelet with kubeadm's files and gives it back; pods and their cgroups stay as they are",
  wants: "/usr/bin/kubelet",
  run: async (at) => {
    await makeCluster(at);
    try {
      await at.machine.read("systemctl start kubelet");
      await untilVersion(at, /^v[\d.]+$/);
      await createPod(at, "lasting", { container: { resources: RESOURCES } });
      const before = whoRuns(await untilReady(at, "lasting"));
      const limits = await readLimits(at);
      at.note(`lasting: ${before}\n${limits}`);
      for (const [index, { order, version }] of SWAPS.entries()) {
        at.note(await at.machine.read(order));
        at.note(`after "${order}": ${await untilVersion(at, version)}`);
        const newcomer = `newcomer-${index}`;
        await createPod(at, newcomer);
        await untilReady(at, newcomer);
        await deletePods(at, newcomer);
        expectSame(whoRuns(await untilReady(at, "lasting")), before, `the container of a pod after ${order}`);
        expectSame(await readLimits(at), limits, `the cgroups of a pod after ${order}`);
      }
      await deletePods(at, "lasting");
      await until(at, `find ${CGROUPS}/kubepods.slice -name '*-pod*.slice' | wc -l`, (count) => count === "0\n");
    } finally {
      await removeCluster(at);
    }
  },
};

/** The control plane is that of the machine's own service, whose node agent and runtime stop. */
async function makeCluster({ machine }: Stage): Promise<void> {
  await machine.read(`set -e
    systemctl disable --now nodelet
    ${composeRuntimeStart(`${STATE}/images`)}
    for image in ${IMAGES.join(" ")}; do ctr -n k8s.io images list -q | grep -x $image; done
    rm -rf /var/lib/kubelet/*
    mkdir -p /etc/kubernetes/manifests /var/lib/kubelet/pki
    systemd-run --unit ${CONTROL_PLANE} --setenv HOME=/root nodelet control-plane --node-name ${HOST_NAME} --state-dir ${STATE}
    ${write("/var/lib/kubelet/config.yaml", CONFIGURATION)}
    ${write("/var/lib/kubelet/kubeadm-flags.env", FLAGS)}
    ${write("/etc/kubernetes/kubelet.conf", KUBECONFIG)}
    until ask-api GET /readyz; do sleep 5; done
    mkdir -p /etc/kubernetes/pki; cp /run/vm/certificate-authority /etc/kubernetes/pki/ca.crt
    cp ${STATE}/node-client.pem /var/lib/kubelet/pki/kubelet-client-current.pem
    ask-api DELETE /api/v1/nodes/${HOST_NAME}`);
}

async function removeCluster(at: Stage): Promise<void> {
  await at.machine.run(`nodelet uninstall; systemctl stop kubelet ${CONTROL_PLANE}`);
  await removeRuntime(at);
  await at.machine.run("rm -rf /etc/kubernetes");
  await installService(at);
  await untilServiceAnswers(at);
}

/** Waits until the node is ready with a kubelet of such a version. */
async function untilVersion(at: Stage, version: RegExp): Promise<string> {
  const isRight = ({ status }: Node) =>
    version.test(status?.nodeInfo?.kubeletVersion ?? "") &&
    status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;
  const read = (text: string): Node => JSON.parse(text);
  const found = read(await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (text) => isRight(read(text))));
  expectSame(found.metadata?.labels?.["joined-by"] ?? "", "kubeadm", "the label of kubeadm's flags");
  return found.status?.nodeInfo?.kubeletVersion ?? "";
}

/** What the kernel keeps the pod "lasting" to, and each of its containers. */
async function readLimits(at: Stage): Promise<string> {
  const uid = ((await readPod(at, "lasting")).metadata?.uid ?? "").replaceAll("-", "_");
  return await at.machine.read(`cd ${CGROUPS}/kubepods.slice
    for directory in $(find . -path '*pod${uid}.slice*' -type d | sort); do cd $directory; echo $directory $(cat ${FILES} 2> /dev/null); cd - > /dev/null; done`);
}
