import { composeRuntimeStart, removeRuntime, write } from "./machine-runtime.ts";
import { composePod } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { installService, untilServiceAnswers } from "./service.ts";

const DIRECTORY = "/etc/vm-kubelet";
const IMAGES = "/var/vm-images";
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
  await machine.read(`set -e
    cp -r /var/lib/nodelet/images ${IMAGES}
    nodelet uninstall; nodelet down --pods
    ${write(`${DIRECTORY}/kubelet.yaml`, CONFIGURATION)}
    ${write(`${DIRECTORY}/manifests/alone.json`, POD)}
    ${composeRuntimeStart(IMAGES)}`);
}

async function putBack(at: Stage): Promise<void> {
  await at.machine.run("nodelet uninstall");
  await removeRuntime(at);
  await at.machine.run(`rm -rf ${DIRECTORY} ${IMAGES}`);
  await installService(at);
  await untilServiceAnswers(at);
}
