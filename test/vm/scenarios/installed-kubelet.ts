import { PAUSE_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { composeContainerdConfig } from "../disk/add-kubelet.ts";
import { composePodNetwork } from "../disk/pod-network.ts";
import { composePod } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { installService, untilServiceAnswers } from "./service.ts";

const DIRECTORY = "/etc/vm-kubelet";
const BRIDGE = "pods0";
const POD_RANGE = "10.100.0.0/24";
const PORT = 10_255;
/** It leaves the cgroup driver at its default, and this containerd has another, as most machines have. */
const CONFIGURATION = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
failCgroupV1: false
failSwapOn: false
readOnlyPort: ${PORT}
staticPodPath: ${DIRECTORY}/manifests
`;
const POD = JSON.stringify(composePod("alone"));
/** The ID of the container that runs, by the node agent. */
const RUNS = `curl --silent --fail http://127.0.0.1:${PORT}/pods | grep -o '"containerID":"[^"]*"' | head -n 1`;
const isRunning = (output: string) => output.includes("containerd://");

/** A machine without a cluster, whose administrator has a containerd and wants its pods from files. */
export const installedKubelet: Scenario = {
  name: "installed-kubelet",
  promise:
    "nodelet install kubelet runs pods of files on the machine's containerd: they outlive kill -9 and its removal, and a reboot starts them",
  run: async (at) => {
    const { machine } = at;
    await prepare(at);
    try {
      at.note(await machine.read(`cd ${DIRECTORY} && nodelet install kubelet --config=kubelet.yaml`));
      const first = await until(at, RUNS, isRunning);
      at.note(await machine.read("journalctl --unit nodelet --output cat | grep 'cgroup driver is used' | head -n 1"));
      await expectFollows(at, first);
      await machine.run("systemctl reboot");
      await machine.untilStarted();
      const second = await until(at, RUNS, (id) => isRunning(id) && id.trimEnd() !== first);
      at.note(`${first}, after a reboot ${second}`);
      at.note(await machine.read("nodelet uninstall"));
      expectSame(await machine.read("systemctl is-active nodelet || true"), "inactive", "the service");
      const tasks = await machine.read("ctr -n k8s.io tasks list | grep -c RUNNING");
      expectSame(tasks, "2", "containers that run without the service, the sandbox with them");
    } finally {
      await putBack(at);
    }
  },
};

/** Another process takes the place of the one that was killed, and the pod does not notice. */
async function expectFollows(at: Stage, container: string): Promise<void> {
  const main = "systemctl show --property=MainPID --value nodelet";
  const pid = await at.machine.read(main);
  await at.machine.read(`kill -9 ${pid}`);
  await until(at, main, (output) => !["0", pid].includes(output.trim()));
  await until(at, "systemctl is-active nodelet || true", (output) => output === "active\n");
  expectSame(await until(at, RUNS, isRunning), container, "the pod's container after kill -9");
  const unit = await at.machine.read("systemctl cat nodelet");
  expectTrue(unit.includes(`--config=${DIRECTORY}/kubelet.yaml`), "the unit's path is not whole");
}

/** The service of before is gone, and the machine's own containerd runs, with the images. */
async function prepare({ machine }: Stage): Promise<void> {
  const write = (path: string, text: string) => `mkdir -p $(dirname ${path}); cat > ${path} <<'EOF'\n${text}\nEOF\n`;
  await machine.read(`set -e
    cp -r /var/lib/nodelet/images /var/vm-images
    nodelet uninstall; nodelet down --pods
    ${write("/etc/containerd/config.toml", composeContainerdConfig(PAUSE_IMAGE))}
    ${write("/etc/cni/net.d/10-pods.conflist", composePodNetwork(BRIDGE, POD_RANGE))}
    ${write(`${DIRECTORY}/kubelet.yaml`, CONFIGURATION)}
    ${write(`${DIRECTORY}/manifests/alone.json`, POD)}
    systemctl enable --now containerd
    for image in /var/vm-images/*.tar; do ctr -n k8s.io images import $image; done`);
}

async function putBack(at: Stage): Promise<void> {
  await at.machine.run(`nodelet uninstall
    ctr -n k8s.io tasks list -q | xargs --no-run-if-empty -n 1 ctr -n k8s.io tasks kill -s KILL
    systemctl disable --now containerd; ip link delete ${BRIDGE}
    rm -rf ${DIRECTORY} /var/vm-images /var/lib/kubelet/* /etc/cni/net.d/10-pods.conflist /etc/containerd/config.toml`);
  await installService(at);
  await untilServiceAnswers(at);
}
