import { CodedError } from "../base/errors.ts";
import { installService, uninstallService } from "../cluster/service/install-service.ts";
import { requireRoot } from "./require-root.ts";

/** Runs `nodelet install`. `words` are the command and its arguments; none means `up`. Returns the exit code. */
export async function install(words: readonly string[], entry: string): Promise<number> {
  requireRoot("install");
  const [command = "up", ...args] = words;
  if (command !== "up" && command !== "kubelet") {
    throw new CodedError("unknown-command", `a service runs "up" or "kubelet", not "${command}"`);
  }
  console.log("Starting the service …");
  const { path } = await installService({ command, args, node: process.execPath, entry });
  console.log(`nodelet ${command} runs, and starts with the machine. Its unit is ${path}.`);
  console.log("See it: systemctl status nodelet   Its log: journalctl -u nodelet   Remove it: nodelet uninstall");
  return 0;
}

/** Runs `nodelet uninstall`. Returns the exit code. */
export async function uninstall(): Promise<number> {
  requireRoot("uninstall");
  const wasThere = await uninstallService();
  if (!wasThere) console.log("No service of nodelet is installed.");
  else console.log("The service is stopped and removed. Pods run on; remove them: nodelet down --pods");
  return 0;
}
