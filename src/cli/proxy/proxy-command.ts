import { isIP } from "node:net";
import { hostname } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { isRangeOf } from "../../proxy/rules/address-family.ts";
import { bridgeName, wholeNumber } from "../flag-values.ts";
import { addLogOptions, type LogFlags } from "../log-options.ts";

/** The options as commander reads them. */
export interface ProxyCommand extends LogFlags {
  kubeconfig?: string;
  hostnameOverride: string;
  clusterCidr: string[];
  serviceCidr: string[];
  nodeportAddresses: string[];
  masqueradeAll: boolean;
  masqueradeBit: number;
  healthzBindAddress: BindAddress | false;
  metricsBindAddress: BindAddress | false;
  networkPolicies: boolean;
  podBridgeInterface?: string;
  nftTable: string;
  cleanup: boolean;
}

/** Where a server listens. */
export interface BindAddress {
  readonly address: string;
  readonly port: number;
}

/** The table where no other name is asked for. */
const DEFAULT_TABLE = "nodelet-proxy";
const DEFAULT_MASQUERADE_BIT = 14;
const MAX_MASQUERADE_BIT = 31;
const MAX_TABLE_CHARACTERS = 64;

/** Adds `nodelet proxy`, whose flags are kube-proxy's where they mean the same. */
export function addProxy(program: Command, run: (options: ProxyCommand) => Promise<void>): void {
  const command = program
    .command("proxy")
    .description("make services lead to their pods on this node, in kube-proxy's place, by nftables")
    .option("--kubeconfig <path>", "how to reach the API server, and as whom")
    .addOption(
      new Option("--hostname-override <name>", "the name of this node").default(hostname().toLowerCase(), "the host's"),
    )
    .addOption(ranges("--cluster-cidr <cidrs>", "addresses of pods: calls from elsewhere are masqueraded"))
    .addOption(
      ranges("--service-cidr <cidrs>", "addresses of services: packets to those that no service has are dropped"),
    )
    .addOption(
      ranges("--nodeport-addresses <cidrs>", "this node's addresses with node ports (default: all but loopback)"),
    )
    .option("--masquerade-all", "masquerade everything that goes to a service's address", false)
    .addOption(
      new Option("--masquerade-bit <bit>", "the bit of the packet mark for what is masqueraded")
        .default(DEFAULT_MASQUERADE_BIT)
        .argParser(wholeNumber(0, MAX_MASQUERADE_BIT)),
    )
    .addOption(bindAddress("--healthz-bind-address <address>", "0.0.0.0:10256"))
    .addOption(bindAddress("--metrics-bind-address <address>", "127.0.0.1:10249"))
    .option(
      "--network-policies",
      "keep to network policies too, which takes the right to read pods, namespaces and policies",
      false,
    )
    .addOption(
      new Option(
        "--pod-bridge-interface <name>",
        "the bridge of the pods: none of them is a router there, and policies hold for what they send by link-local addresses or to all",
      ).argParser(bridgeName),
    )
    .addOption(
      new Option("--nft-table <name>", "the table of nftables that holds all rules")
        .default(DEFAULT_TABLE)
        .argParser(tableName),
    )
    .option("--cleanup", "remove the rules of an earlier run, and end", false)
    .addOption(new Option("--config <file>").hideHelp().argParser(refuseConfig))
    .addOption(new Option("--proxy-mode <mode>").hideHelp().argParser(checkMode));
  addLogOptions(command);
  command.action(async () => await run(command.opts<ProxyCommand>()));
}

function refuseConfig(): never {
  throw new InvalidArgumentError("A KubeProxyConfiguration is not read: give its settings as flags, see --help.");
}

function checkMode(mode: string): string {
  if (mode === "nftables") return mode;
  throw new InvalidArgumentError(
    "This proxy has one mode, nftables: install the package nftables, or run kube-proxy for another.",
  );
}

function ranges(flags: string, description: string): Option {
  return new Option(flags, description).default([], "none").argParser((text: string): string[] => {
    const parts = text.split(",").map((part) => part.trim());
    const bad = parts.find((part) => !isRangeOf("ip")(part) && !isRangeOf("ip6")(part));
    if (bad === undefined) return parts;
    throw new InvalidArgumentError(`"${bad}" is no range such as 10.64.0.0/16; several are separated by commas.`);
  });
}

function bindAddress(flags: string, preset: string): Option {
  const what = flags.startsWith("--healthz") ? "/healthz" : "/metrics";
  return new Option(flags, `where ${what} is served, "" for nowhere`)
    .default(readBindAddress(preset), preset)
    .argParser(readBindAddress);
}

/** Reads `127.0.0.1:10249`, `[::1]:10249`, or an empty text for no server. */
function readBindAddress(text: string): BindAddress | false {
  if (text === "") return false;
  const [, bracketed, plain, digits = ""] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? "";
  const port = Number(digits);
  if (isIP(address) !== 0 && port > 0 && port <= 65_535) return { address, port };
  throw new InvalidArgumentError("It must be an address with a port, such as 127.0.0.1:10249.");
}

function tableName(text: string): string {
  if (/^[a-zA-Z][a-zA-Z0-9_.-]*$/.test(text) && text.length <= MAX_TABLE_CHARACTERS) return text;
  throw new InvalidArgumentError("It must be letters, digits, '-', '_' and '.', and begin with a letter.");
}
