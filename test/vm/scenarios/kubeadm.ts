import type { Pod } from "../../../src/api/gen/types.ts";
import { messageOf } from "../../../src/base/errors.ts";
import { addKubeadm, FIRST, findKubeadm, KUBEADM_DIRECTORY, type KubeadmNode, SECOND } from "../disk/add-kubeadm.ts";
import type { Machine } from "../machines/machine.ts";
import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { installService } from "./service.ts";

const ASSETS = findKubeadm(process.env);
const KUBECTL = "kubectl --kubeconfig /etc/kubernetes/admin.conf";
/** The kernel of this machine has version 1 of cgroups. */
const IGNORED = "--ignore-preflight-errors=SystemVerification";
const POD = { image: "localhost/busybox:1", imagePullPolicy: "Never", command: ["sleep", "3600"] };

/** A cluster of upstream's programs, whose machines run nodelet as their program and service `kubelet`. */
export const kubeadm: Scenario = {
  name: "kubeadm",
  promise:
    "kubeadm init, join, upgrade node and reset work with nodelet as kubelet, which takes another's place and gives it back",
  needs: "namespaces",
  lacks: ASSETS === undefined ? "KUBEADM_ASSETS names no directory of kubeadm, kubelet, kubectl and images" : undefined,
  run: async (at) => {
    await at.machine.read("systemctl stop nodelet");
    const second = await at.machine.startNeighbour(async (tree) => await addKubeadm(tree, ASSETS ?? "", SECOND));
    try {
      await prepare(at.machine, FIRST);
      await prepare(second, SECOND);
      await initialize(at);
      await swap(at);
      await join(at, second);
      await runPod(at, SECOND.name);
      at.note(await at.machine.read(`kubeadm upgrade node ${IGNORED} 2>&1 | tail -1`));
      await untilNodes(at, 2);
      for (const machine of [second, at.machine]) await reset(machine);
    } catch (error) {
      at.note(`failed: ${messageOf(error)}`);
      throw error;
    } finally {
      await second.remove();
      await at.machine.run("kubeadm reset --force");
      await at.machine.read("nodelet uninstall && systemctl stop containerd && rm /etc/cni/net.d/10-pods.conflist");
      await at.machine.run("ip link delete pods0; ip route delete default");
      await installService(at);
    }
  },
};

/** The network, the runtime and its images. */
async function prepare(machine: Machine, { address }: KubeadmNode): Promise<void> {
  await machine.read(`set -e; cd ${KUBEADM_DIRECTORY}
    ip address add ${address}/24 dev lan0; ip link set lan0 up; ip route add default dev lan0
    sysctl --quiet --write net.ipv4.ip_forward=1
    mkdir -p /etc/containerd /etc/cni/net.d
    cp containerd.toml /etc/containerd/config.toml; cp 10-pods.conflist /etc/cni/net.d/
    systemctl start containerd
    for image in images/*.tar; do ctr -n k8s.io images import $image > /dev/null; done
    systemctl enable --quiet kubelet; nodelet install --as-kubelet --replace; kubelet --version`);
}

/** The versions are those of what is there. */
async function initialize(at: Stage): Promise<void> {
  await at.machine.read(`set -e; cd ${KUBEADM_DIRECTORY}
    etcd=$(ctr -n k8s.io images list -q | sed -n 's/.*etcd://p' | head -1)
    sed -i "s/VERSION/$(kubeadm version -o short)/; s/ETCD/$etcd/" cluster.yaml
    kubeadm init --config cluster.yaml --skip-phases=addon/coredns ${IGNORED}`);
  await approveServing(at, FIRST);
  await untilNodes(at, 1);
  await untilRunning(at, 5);
  await runPod(at, FIRST.name);
}

/** The pods of the API run on; those of manifests have other UIDs with another kubelet, and begin again. */
async function swap(at: Stage): Promise<void> {
  await at.machine.read(`${KUBECTL} run lasting --image=${POD.image} --image-pull-policy=Never -- sleep 3600`);
  await until(at, `${KUBECTL} wait --for=condition=Ready pod/lasting --timeout=60s`, () => true);
  const before = await readContainer(at);
  for (const [order, version] of [
    ["nodelet uninstall", /^v[\d.]+$/],
    ["nodelet install --as-kubelet --replace", /\+nodelet/],
  ] as const) {
    await at.machine.read(order);
    const path = "{.status.nodeInfo.kubeletVersion}";
    const found = await until(at, `${KUBECTL} get node ${FIRST.name} -o jsonpath='${path}'`, (text) =>
      version.test(text),
    );
    await untilNodes(at, 1);
    await untilRunning(at, 6);
    at.note(`${order}: ${found}`);
    expectSame(await readContainer(at), before, `the container of a pod after ${order}`);
  }
  await at.machine.read(`${KUBECTL} delete pod lasting --grace-period=1`);
}

async function readContainer(at: Stage): Promise<string> {
  const { status }: Pod = JSON.parse(await until(at, `${KUBECTL} get pod lasting -o json`, () => true));
  const [main] = status?.containerStatuses ?? [];
  return `${main?.containerID}, begun anew ${main?.restartCount} times`;
}

/** By a token: the node asks for its certificates, and the cluster gives them. */
async function join(at: Stage, second: Machine): Promise<void> {
  const command = await at.machine.read("kubeadm token create --print-join-command 2> /dev/null");
  at.note((await second.read(`${command} ${IGNORED} 2>&1`)).split("\n").at(-1) ?? "");
  await approveServing(at, SECOND);
  await untilNodes(at, 2);
  at.note(await at.machine.read(`${KUBECTL} get nodes,csr`));
}

/**
 * Approves what a node asks for until its own API has a certificate, as an administrator does. A kubelet that kubeadm starts
 * anew meanwhile asks again.
 */
async function approveServing(at: Stage, node: KubeadmNode): Promise<void> {
  const pending = "{{range .items}}{{if not .status.conditions}}{{.metadata.name}} {{end}}{{end}}";
  const approve = `${KUBECTL} get csr -o go-template='${pending}' | xargs --no-run-if-empty ${KUBECTL} certificate approve > /dev/null`;
  const ask = `${KUBECTL} get --raw /api/v1/nodes/${node.name}/proxy/healthz`;
  await until(at, `${approve}; ${ask}`, (output) => output.endsWith("ok"));
}

async function untilNodes(at: Stage, count: number): Promise<void> {
  const isReady = (output: string) => output.split("\n").filter((line) => / Ready /.test(line)).length === count;
  await until(at, `${KUBECTL} get nodes --no-headers`, isReady);
}

/** Waits until so many pods exist, and each of them runs and is ready. */
async function untilRunning(at: Stage, count: number): Promise<void> {
  const isRight = (output: string) => {
    const lines = output.trim().split("\n");
    return lines.length === count && lines.every((line) => / 1\/1 +Running /.test(line));
  };
  await until(at, `${KUBECTL} get pods --all-namespaces --no-headers`, isRight);
}

/** By the node's own API, whose certificate the cluster has signed: it starts, answers, logs and goes. */
async function runPod(at: Stage, node: string): Promise<void> {
  const command = ["sh", "-c", "echo started; sleep 3600"];
  const spec = { nodeName: node, containers: [{ name: "main", ...POD, command }], terminationGracePeriodSeconds: 1 };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "visitor" }, spec };
  await at.machine.read(`${KUBECTL} create -f - <<'EOF'\n${JSON.stringify(pod)}\nEOF`);
  await until(at, `${KUBECTL} wait --for=condition=Ready pod/visitor --timeout=60s`, () => true);
  expectSame(await until(at, `${KUBECTL} logs visitor`, () => true), "started", `the log of a pod on ${node}`);
  expectSame(
    await until(at, `${KUBECTL} exec visitor -- cat /etc/hostname`, () => true),
    "visitor",
    "what exec prints",
  );
  await at.machine.read(`${KUBECTL} delete pod visitor`);
}

/** Nothing of the cluster is left. */
async function reset(machine: Machine): Promise<void> {
  await machine.read("kubeadm reset --force");
  const left = await machine.read(`ctr -n k8s.io tasks list -q; grep ' /var/lib/kubelet' /proc/mounts
    find /etc/kubernetes/manifests /var/lib/kubelet -mindepth 1 2> /dev/null || true`);
  expectSame(left, "", "what kubeadm reset leaves behind");
}
