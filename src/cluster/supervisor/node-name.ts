import { hostname } from "node:os";
import { parseFlags } from "../../config/parse-flags.ts";
import { readRuntimeOptions } from "./runtime-options.ts";

interface NodeNameChoice {
  readonly kubeletArguments: readonly string[];
  /** Gets a line for a person where the node is not called what the machine is. */
  tell(line: string): void;
  /** What the machine is called now. Default: its host name. */
  readonly machine?: string;
}

/**
 * Chooses the name of the node: that of the kubelet's flag `--hostname-override`, or else that of an earlier start of the
 * state directory, or the machine's. A machine may get another name, from DHCP for example. Under that its node would be a
 * new one: pods would stay on a node that never comes back, and local volumes, which are bound to it, out of reach.
 */
export async function chooseNodeName(
  stateDirectory: string,
  { kubeletArguments, tell, machine = hostname() }: NodeNameChoice,
): Promise<string> {
  const parsed = parseFlags(kubeletArguments);
  // The node agent itself reports flags that cannot be read.
  const override = parsed.ok ? parsed.values.get("hostname-override") : undefined;
  if (typeof override === "string" && override.trim() !== "") return toNodeName(override);
  const { nodeName: recorded } = await readRuntimeOptions(stateDirectory);
  const own = toNodeName(machine);
  if (recorded === undefined || recorded === own) return own;
  tell(
    `the machine is called ${own} now, and its node stays ${recorded}: --kubelet-arg=--hostname-override=${own} says else`,
  );
  return recorded;
}

const toNodeName = (name: string) => name.trim().toLowerCase();
