import { computeProgramWords, type ProgramStart, RUN_TIME_ENVIRONMENT, RUN_TIME_FLAGS } from "../processes/run-time.ts";

/** The service that `nodelet install` writes. */
export interface ServiceChoices extends ProgramStart {
  /** `up`, or `kubelet` for the node agent alone. */
  readonly command: "up" | "kubelet";
  /** The arguments of that command. */
  readonly args: readonly string[];
}

export const SERVICE_NAME = "nodelet.service";

/** What is different about the two commands. */
const COMMANDS = {
  up: { description: "nodelet: a Kubernetes of one node", after: "" },
  kubelet: { description: "nodelet: the Kubernetes node agent", after: " containerd.service crio.service" },
} as const;

/** The unit that `nodelet install` writes; see `writeUnit`. */
export function computeUnitFile({ command, args, ...start }: ServiceChoices): string {
  const line = [...computeProgramWords(start, RUN_TIME_FLAGS), command, ...args].map(quote).join(" ");
  const head =
    '# Written by "nodelet install"; "nodelet uninstall" removes it. Changes belong into a drop-in: systemctl edit nodelet';
  return writeUnit(command, [head], [`ExecStart=${line}`]);
}

/** The command that a unit of `computeUnitFile` runs. */
export function commandOfUnit(text: string): ServiceChoices["command"] {
  return text.includes(`\nDescription=${COMMANDS.kubelet.description}\n`) ? "kubelet" : "up";
}

/** The unit of a package, whose user adds options to `up` in a file of the variable NODELET_ARGS. */
export function computePackagedUnit(start: ProgramStart, files: { manifests: string; environment: string }): string {
  const words = [...computeProgramWords(start, RUN_TIME_FLAGS), "up", "--manifests", files.manifests].map(quote);
  const line = [...words, "$NODELET_ARGS"].join(" ");
  return writeUnit("up", [], [`EnvironmentFile=-${files.environment}`, `ExecStart=${line}`]);
}

/**
 * Writes the text of a unit. Pods and the processes beside the service have units of their own, so that only its main
 * process is stopped with it, and comes back by itself however it ends.
 */
function writeUnit(command: ServiceChoices["command"], head: readonly string[], start: readonly string[]): string {
  const { description, after } = COMMANDS[command];
  const environment = Object.entries(RUN_TIME_ENVIRONMENT).map(([name, value]) => `Environment=${name}=${value}`);
  return [
    ...head,
    "[Unit]",
    `Description=${description}`,
    "Documentation=man:nodelet(1)",
    "Wants=network-online.target",
    `After=network-online.target dbus.socket${after}`,
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=notify",
    ...start,
    ...environment,
    "Restart=always",
    "RestartSec=2",
    "KillMode=process",
    "SyslogIdentifier=nodelet",
    "Delegate=yes",
    "OOMScoreAdjust=-999",
    "LimitNOFILE=1048576",
    "TasksMax=infinity",
    "TimeoutStartSec=1200",
    "TimeoutStopSec=120",
    "WatchdogSec=60",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ].join("\n");
}

/** Quotes a word of a command line, in which systemd replaces `%`, `$` and backslashes (systemd.service(5)). */
function quote(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@+:,./=%-]+$/.test(word) ? escaped : `"${escaped.replaceAll("\n", "\\n")}"`;
}
