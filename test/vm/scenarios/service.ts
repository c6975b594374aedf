import { untilNodeReady } from "./pods.ts";
import { type Stage, until } from "./scenario.ts";

const STATE = "/var/lib/nodelet";
/** Drop-ins of KubeletConfiguration, which the node agent of the installed service reads. */
const DROP_INS = "/etc/nodelet-vm.d";
const DROP_IN = `${DROP_INS}/50-scenario.conf`;
export const MANIFESTS = "/manifests";

/** Installs the service of `nodelet up`, and returns what the command printed. */
export async function installService({ machine }: Stage): Promise<string> {
  return await machine.read(
    `mkdir -p ${DROP_INS} && nodelet install up --manifests ${MANIFESTS} --kubelet-arg=--config-dir=${DROP_INS}`,
  );
}

/** A process of the service. Each script prints the process' ID, or nothing where it does not run. */
export const PROCESSES = {
  agent: `cut -d' ' -f1 ${STATE}/agent.pid 2> /dev/null`,
  "control plane": `cut -d' ' -f1 ${STATE}/control-plane.pid 2> /dev/null`,
  up: "systemctl show --property=MainPID --value nodelet",
} as const;

/**
 * Sends the signal, and waits until another process has taken the place of the one that was hit, and all answer. The one
 * before may have ended by itself.
 */
export async function replaceProcess(at: Stage, name: keyof typeof PROCESSES, signal: string): Promise<void> {
  const pid = await at.machine.read(`${PROCESSES[name]} || true`);
  await at.machine.run(`kill -s ${signal} ${pid}`);
  await until(at, `${PROCESSES[name]} || true`, (output) => !["", "0", pid].includes(output.trim()));
  await untilServiceAnswers(at);
}

/** Waits until the service has told systemd that it is ready, and its control plane and node agent answer. */
export async function untilServiceAnswers(at: Stage): Promise<void> {
  await until(at, "systemctl is-active nodelet || true", (output) => output === "active\n");
  await until(at, "ask-api GET /readyz && nodelet status > /dev/null", () => true);
}

/** Switches the machine off and on again, the kernel with these words, and waits until its node is ready. */
export async function startAnew(at: Stage, kernelWords: readonly string[]): Promise<void> {
  await at.machine.run("systemctl poweroff");
  await at.machine.untilOff();
  await at.machine.switchOn(kernelWords);
  await untilServiceAnswers(at);
  await untilNodeReady(at);
}

/** Runs with other settings of KubeletConfiguration, given as YAML, and goes back to those of before. */
export async function withKubeletConfiguration(at: Stage, yaml: string, run: () => Promise<void>): Promise<void> {
  await withDropIn(at, yaml, async () => {
    await replaceProcess(at, "agent", "TERM");
    await run();
  });
}

/** Runs with a file of other settings, which an agent reads that starts meanwhile. Those of before are in force afterwards. */
export async function withDropIn(at: Stage, yaml: string, run: () => Promise<void>): Promise<void> {
  await writeDropIn(at, yaml);
  try {
    await run();
  } finally {
    await at.machine.read(`rm -f ${DROP_IN}`);
    await replaceProcess(at, "agent", "TERM");
  }
}

/** Replaces what is in that file. */
export async function writeDropIn(at: Stage, yaml: string): Promise<void> {
  const text = `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${yaml}\n`;
  await at.machine.read(`cat > ${DROP_IN} <<'EOF'\n${text}EOF`);
}

/** The IDs of all containers that run, pods' sandboxes included, by the runtime's own word and in order. */
export async function readRunningTasks({ machine }: Stage): Promise<string[]> {
  const output = await machine.read(
    `ctr --address ${STATE}/containerd/containerd.sock --namespace k8s.io tasks list | awk '$3 == "RUNNING" { print $1 }'`,
  );
  return output
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}
