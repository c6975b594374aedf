import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../../api/object.ts";
import { codeOf } from "../../base/errors.ts";
import { runCommand } from "../processes/run-command.ts";
import { readCniBinDirectory } from "./machine-facts.ts";
import { CNI_RESULTS } from "./remove-network.ts";

/** A sandbox that has host ports, as CNI's library remembers how it was connected. */
export interface HostPortSandbox {
  readonly id: string;
  /** The families of which it has an address at a host port. */
  readonly families: ReadonlySet<"IPv4" | "IPv6">;
  /** What the plugin `portmap` was told, and needs to be told again. */
  readonly call: { readonly netns: string; readonly ifName: string; readonly configuration: string };
}

/** The sandboxes of one network, and the plugin that makes the rules of their host ports. */
export interface HostPortSandboxes {
  list(): Promise<HostPortSandbox[]>;
  /** False for one that has ended: the library forgets it as the last step. */
  isThere(sandbox: HostPortSandbox): Promise<boolean>;
  /** Has the plugin make the rules, or remove them; each may be done again. Rejects with a CodedError of `runCommand`. */
  call(command: "ADD" | "DEL", sandbox: HostPortSandbox): Promise<void>;
}

/** Looks where the library of every runtime keeps its results. */
export function openHostPortSandboxes(networkName: string, directory = CNI_RESULTS): HostPortSandboxes {
  /** A result does not change, and a sandbox's identity is not used again. */
  const known = new Map<string, HostPortSandbox | undefined>();
  const prefix = `${networkName}-`;
  const remember = async (name: string): Promise<void> => {
    const text = await readFile(join(directory, name), "utf8").catch(() => "");
    // The library does not write it in one go: what is torn may be whole at the next look.
    if (parse(text) !== undefined) known.set(name, readSandbox(text, networkName));
  };
  const names = async () => {
    try {
      return (await readdir(directory)).filter((name) => name.startsWith(prefix));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  };
  return {
    async list() {
      const present = await names();
      for (const name of known.keys()) if (!present.includes(name)) known.delete(name);
      for (const name of present) if (!known.has(name)) await remember(name);
      return [...known.values()].filter((sandbox) => sandbox !== undefined);
    },
    isThere: async ({ id }) => (await names()).some((name) => name.startsWith(`${prefix}${id}-`)),
    async call(command, { id, call: { netns, ifName, configuration } }) {
      const binaries = await readCniBinDirectory();
      const environment = {
        CNI_COMMAND: command,
        CNI_CONTAINERID: id,
        CNI_NETNS: netns,
        CNI_IFNAME: ifName,
        CNI_PATH: binaries,
      };
      await runCommand(join(binaries, "portmap"), [], { environment, stdin: configuration });
    },
  };
}

/**
 * Reads a cached result (`cniCacheV1` of containernetworking/cni). Undefined for one without host ports, and for a file
 * that is torn or of another form.
 */
export function readSandbox(text: string, networkName: string): HostPortSandbox | undefined {
  const cached = parse(text);
  const result = cached?.["result"];
  const ports = portsOf(cached);
  const plugin = pluginOf(cached);
  if (cached === undefined || !isRecord(result) || ports.length === 0 || plugin === undefined) return undefined;
  const [id, ifName] = [cached["containerId"], cached["ifName"]];
  const netns = namespaceOf(result, ifName);
  if (typeof id !== "string" || typeof netns !== "string" || typeof ifName !== "string") return undefined;
  const { cniVersion } = result;
  const configuration = { ...plugin, name: networkName, cniVersion, runtimeConfig: { portMappings: ports } };
  const families = familiesOf(result, ports);
  return {
    id,
    families,
    call: { netns, ifName, configuration: JSON.stringify({ ...configuration, prevResult: result }) },
  };
}

type Fields = Readonly<Record<string, unknown>>;

function portsOf(cached: Fields | undefined): Fields[] {
  const capabilities = cached?.["capabilityArgs"];
  const mappings = isRecord(capabilities) ? capabilities["portMappings"] : undefined;
  if (!Array.isArray(mappings)) return [];
  return mappings.filter(isRecord).filter((mapping) => Number(fieldOf(mapping, "hostport")) > 0);
}

/** Names are not case-sensitive there: containerd writes `HostPort`, and the plugin's own documents `hostPort`. */
function fieldOf(mapping: Fields, name: string): unknown {
  return Object.entries(mapping).find(([field]) => field.toLowerCase() === name)?.[1];
}

/** The part of the network's configuration that is the plugin's, as it was when the sandbox was connected. */
function pluginOf(cached: Fields | undefined): Fields | undefined {
  const encoded = cached?.["config"];
  const list = typeof encoded === "string" ? parse(Buffer.from(encoded, "base64").toString("utf8")) : undefined;
  const plugins = list?.["plugins"];
  if (!Array.isArray(plugins)) return undefined;
  return plugins.filter(isRecord).find(({ type }) => type === "portmap");
}

/** The network namespace: the one in which the interface is. */
function namespaceOf(result: Fields, ifName: unknown): unknown {
  const interfaces = Array.isArray(result["interfaces"]) ? result["interfaces"].filter(isRecord) : [];
  return interfaces.find(({ name }) => name === ifName)?.["sandbox"];
}

function familiesOf(result: Fields, ports: readonly Fields[]): Set<"IPv4" | "IPv6"> {
  const addresses = Array.isArray(result["ips"]) ? result["ips"].filter(isRecord) : [];
  const familyOf = (address: unknown) => (String(address).includes(":") ? "IPv6" : "IPv4");
  const wanted = new Set(addresses.map(({ address }) => familyOf(address)));
  const isAtPort = (family: "IPv4" | "IPv6") =>
    ports.some((mapping) => {
      const hostIp = fieldOf(mapping, "hostip") ?? "";
      return hostIp === "" || familyOf(hostIp) === family;
    });
  return new Set([...wanted].filter(isAtPort));
}

function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
