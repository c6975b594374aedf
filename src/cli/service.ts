import { CodedError } from "../base/errors.ts";
import { isSystemdBooted } from "../cluster/processes/find-systemd.ts";
import { installAsKubelet, type KubeletMachine, uninstallAsKubelet } from "../cluster/service/install-as-kubelet.ts";
import { installService, runSystemctl, uninstallService } from "../cluster/service/install-service.ts";
import { openProgress } from "./open-progress.ts";
import { requireRoot } from "./require-root.ts";
import { readServiceWords } from "./service-words.ts";

/** The options of `nodelet install`. */
export interface InstallOptions {
  readonly asKubelet: boolean;
  readonly replace: boolean;
}

const THIS_MACHINE: KubeletMachine = { root: "/", systemctl: runSystemctl };

/** Runs `nodelet install`. `words` are the command and its arguments; none means `up`. Returns the exit code. */
export async function install(words: readonly string[], options: InstallOptions, entry: string): Promise<number> {
  requireRoot("install");
  if (options.asKubelet) return await installKubelet(words, options, entry);
  if (options.replace) throw new CodedError("unknown-command", "--replace is for --as-kubelet alone");
  const [command = "up", ...args] = words;
  if (command !== "up" && command !== "kubelet") {
    throw new CodedError("unknown-command", `a service runs "up" or "kubelet", not "${command}"`);
  }
  const whole = await readServiceWords(command, args, process.cwd());
  const progress = openProgress("text");
  progress.line("Starting the service …");
  progress.waiting("systemd, until the service is ready");
  const choices = { command, args: whole, node: process.execPath, entry } as const;
  const { path } = await installService(choices).finally(() => progress.waiting(undefined));
  console.log(`nodelet ${command} runs, and starts with the machine. Its unit is ${path}.`);
  console.log("See it: systemctl status nodelet   Its log: journalctl -u nodelet   Remove it: nodelet uninstall");
  return 0;
}

async function installKubelet(words: readonly string[], options: InstallOptions, entry: string): Promise<number> {
  if (words.length > 0) {
    const place = "KUBELET_EXTRA_ARGS in /etc/default/kubelet";
    throw new CodedError("unknown-command", `--as-kubelet takes no words ("${words.join(" ")}"); flags go to ${place}`);
  }
  if (!isSystemdBooted()) {
    const mend = `make a link instead: ln -s ${entry} /usr/local/bin/kubelet`;
    throw new CodedError("no-systemd", `systemd does not run this machine: ${mend}`);
  }
  const choices = { node: process.execPath, entry, isReplacing: options.replace };
  const { program, replaced, isEnabled } = await installAsKubelet(THIS_MACHINE, choices);
  console.log(`${program} is nodelet, and the service kubelet runs it${replaced ? ` instead of ${replaced}` : ""}.`);
  if (!isEnabled) console.log("The service does not start with the machine yet: systemctl enable kubelet");
  console.log("See it: systemctl status kubelet   Its log: journalctl -u kubelet   Go back: nodelet uninstall");
  return 0;
}

/** Runs `nodelet uninstall`. Returns the exit code. */
export async function uninstall(): Promise<number> {
  requireRoot("uninstall");
  const command = await uninstallService();
  if (command !== undefined) {
    const mend = command === "up" ? "; remove them: nodelet down --pods" : "";
    console.log(`The service is stopped and removed. Pods run on${mend}`);
  }
  const wasKubelet = await uninstallAsKubelet(THIS_MACHINE);
  if (wasKubelet)
    console.log("The kubelet of before has its place again; without one, its service is gone. Pods run on.");
  if (command === undefined && !wasKubelet) console.log("No service of nodelet is installed.");
  return 0;
}
