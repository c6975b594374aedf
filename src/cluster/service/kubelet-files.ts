import { CodedError } from "../../base/errors.ts";
import { computeProgramWords, type ProgramStart, RUN_TIME_ENVIRONMENT, RUN_TIME_FLAGS } from "../processes/run-time.ts";

/** The first line after the interpreter of each file that takes the kubelet's place, by which it is known again. */
const MARK = '# Written by "nodelet install --as-kubelet"; "nodelet uninstall" removes it.';

/** The command line that kubeadm's packages give the service. */
const KUBEADM_ARGUMENTS = "$KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS";

/** Tells whether `nodelet install --as-kubelet` wrote the file. */
export function isOwnFile(text: string): boolean {
  return text.includes(MARK);
}

/** Computes the program `kubelet`: a script, because what it gives Node.js has to be there before that starts. */
export function computeKubeletProgram(start: ProgramStart): string {
  const environment = Object.entries(RUN_TIME_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  const command = [...computeProgramWords(start, RUN_TIME_FLAGS).map(quoteForShell), "kubelet"];
  return `#!/bin/sh\n${MARK}\n${[...environment, "exec", ...command].join(" ")} "$@"\n`;
}

/** Computes the drop-in that makes the service `kubelet` run the program instead of its own, with the same arguments. */
export function computeKubeletDropIn(program: string, commandLine: string): string {
  return [
    MARK,
    "[Service]",
    "ExecStart=",
    `ExecStart=${program} ${commandLine}`.trimEnd(),
    "KillMode=process",
    "OOMScoreAdjust=-999",
    "LimitNOFILE=1048576",
    "",
  ].join("\n");
}

/**
 * Computes the service for a machine that has none, as kubeadm expects it. It does not wait for the agent to be ready
 * (`Type=notify`), because kubeadm starts it before it makes what the agent waits for.
 */
export function computeKubeletUnit(program: string): string {
  return [
    MARK,
    "[Unit]",
    "Description=kubelet: the Kubernetes node agent, by nodelet",
    "Documentation=https://kubernetes.io/docs/",
    "Wants=network-online.target",
    "After=network-online.target dbus.socket containerd.service crio.service",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    'Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"',
    'Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"',
    "EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env",
    "EnvironmentFile=-/etc/default/kubelet",
    "EnvironmentFile=-/etc/sysconfig/kubelet",
    `ExecStart=${program} ${KUBEADM_ARGUMENTS}`,
    "Restart=always",
    "RestartSec=10",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** What the service `kubelet` runs: the program's path, and its arguments as they stand in the unit. */
interface ServiceCommand {
  readonly program: string;
  readonly commandLine: string;
}

/**
 * Finds what a service runs without our drop-in, in what `systemctl cat` prints: its files in the order in which they
 * count, each after a comment with its path. Throws `odd-unit` where that is not one program named kubelet.
 */
export function findServiceCommand(printed: string): ServiceCommand {
  const files = printed.split(/^# (?=\/)/m).filter((text) => !isOwnFile(text) || text.includes("[Unit]"));
  const lines = files.join("\n").replaceAll(/\\\n/g, " ").split("\n");
  const values = lines.flatMap((line) => /^ExecStart\s*=(.*)$/.exec(line)?.[1]?.trim() ?? []);
  // An empty one takes back those before it.
  const commands = values.slice(values.lastIndexOf("") + 1);
  const [, program = "", commandLine = ""] = /^[@:+!|-]*(\S+)\s*(.*)$/.exec(commands[0] ?? "") ?? [];
  if (commands.length !== 1 || !/(^|\/)kubelet$/.test(program)) {
    const found = commands.length === 0 ? "nothing" : commands.join(" and ");
    throw new CodedError(
      "odd-unit",
      `the service kubelet runs ${found}, and not one program named kubelet: see systemctl cat kubelet`,
    );
  }
  return { program, commandLine };
}

function quoteForShell(word: string): string {
  return /^[\w@+:,./=%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
