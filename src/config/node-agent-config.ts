import { isIP } from "node:net";
import { mayNodeSetLabel } from "../api/node-names.ts";
import { isRecord } from "../api/object.ts";
import { checkCidr } from "../api/validation/ip-address.ts";
import { checkDnsSubdomain } from "../api/validation/names.ts";
import type { ConfigurationError } from "./codec.ts";
import { type CpuSettings, computeCpuSettings } from "./cpu-settings.ts";
import { describeFlags } from "./describe-flags.ts";
import type { FeatureGates } from "./feature-gates.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";
import { DEFAULT_HISTORY_AGE_MS, DEFAULT_HISTORY_BYTES } from "./process-flags.ts";
import { computeTlsOptions, type TlsOptions } from "./tls-options.ts";
import { computeTopologySettings, type TopologySettings } from "./topology-settings.ts";

/** All settings of the node agent at its start, frozen: the configuration and the settings that only flags have. */
export interface NodeAgentConfig {
  readonly kubelet: KubeletConfiguration;
  readonly featureGates: FeatureGates;
  /** The name is in lower case and a DNS subdomain: static pods carry it in their names. */
  readonly nodeName: string;
  /** The addresses that `--node-ip` gives, one a family at most; empty where the machine's own addresses are used. */
  readonly nodeIps: readonly string[];
  /** What the node tells where its machine has no address by itself; undefined for none. */
  readonly fallbackNodeIp: string | undefined;
  /** Default `/var/lib/kubelet`. */
  readonly rootDirectory: string;
  /** Default `/var/log/pods`. */
  readonly podLogsDirectory: string;
  /** The directory of the legacy links to container logs: `/var/log/containers`. */
  readonly containerLogsDirectory: string;
  /** A directory of manifests, or one file; absolute. */
  readonly staticPodPath: string | undefined;
  readonly manifestUrl: string | undefined;
  /** The headers are in the order in which they were given; a name may occur several times. */
  readonly manifestUrlHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** `unix:///…`. */
  readonly runtimeEndpoint: string;
  /** `unix:///…`; it is the runtime's endpoint where no other was given. */
  readonly imageEndpoint: string;
  /** The unix socket of `nodelet status`; undefined for none. */
  readonly nodeSocketPath: string | undefined;
  /** The ranges from which the node's API takes connections, beside this machine's own; undefined for any address. */
  readonly serverClients: readonly string[] | undefined;
  /** The file whose lock the process holds while it runs; undefined for none. */
  readonly lockFile: LockFileConfig | undefined;
  /** Where the decisions about pods are kept, and how many; undefined for nowhere. */
  readonly history: PodHistoryConfig | undefined;
  /** Take no pods from manifests that others than root may change. */
  readonly refusesForeignManifests: boolean;
  /** Leave objects of other kinds than pods in the manifests to others. */
  readonly ignoresOtherKinds: boolean;
  /** Leave the kernel's tunables as they are. */
  readonly keepsKernelTunables: boolean;
  /** The directory that names the images which are never removed; absolute. Undefined for none. */
  readonly keptImagesDirectory: string | undefined;
  /** The cgroup in which pods have theirs is nobody else's. */
  readonly ownsCgroupRoot: boolean;
  /** `--runtime-cgroups`: the cgroup of the container runtime, which is measured; empty where it is not known. */
  readonly runtimeCgroup: string;
  /** `--experimental-allocatable-ignore-eviction`: pods may use what hard eviction thresholds hold back. */
  readonly ignoresEvictionThresholds: boolean;
  /** Docker configurations with the node's own credentials for registries; the first that can be read counts. */
  readonly registryConfigs: RegistryConfigPaths;
  /** Undefined means that there are no plugins for credentials. */
  readonly credentialProviders: CredentialProviderPaths | undefined;
  /** The directory of the node's certificates; absolute. */
  readonly certDirectory: string;
  /** The TLS options of the node's own server. */
  readonly tls: TlsOptions;
  readonly topology: TopologySettings;
  readonly cpus: CpuSettings;
  /** Undefined means standalone: the node runs pods of files and URLs only. */
  readonly cluster: ClusterConfig | undefined;
  readonly log: LogOptions;
  /** Every flag with its value, as `/flagz` shows it. */
  readonly flags: Readonly<Record<string, string>>;
}

/** The settings of a node that belongs to a cluster. */
export interface ClusterConfig {
  /** An absolute path. The bootstrap writes the file where it does not exist. */
  readonly kubeconfigPath: string;
  readonly bootstrapKubeconfigPath: string | undefined;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** True to make the node object with `spec.unschedulable: false`. */
  readonly registerSchedulable: boolean;
  /** `external` means that addresses come from a cloud controller, and that the node waits for it with a taint. */
  readonly cloudProvider: "" | "external";
}

/** The files, in the order in which they are looked for. */
interface RegistryConfigPaths {
  /** The files called `config.json`, which come before any of the others. */
  readonly configPaths: readonly string[];
  /** The files called `.dockercfg`, the older form. */
  readonly legacyPaths: readonly string[];
}

interface CredentialProviderPaths {
  /** A file or a directory; absolute. */
  readonly configPath: string;
  /** Absolute. */
  readonly binDirectory: string;
}

/** The lock that lets one node agent run at a time. */
export interface LockFileConfig {
  /** Absolute. */
  readonly path: string;
  /** True to end the process when another one wants the lock. */
  readonly exitsOnContention: boolean;
}

interface PodHistoryConfig {
  /** Absolute. */
  readonly directory: string;
  /** The bytes of all files together. */
  readonly maxBytes: number;
  /** How long the decisions about a pod that is gone are kept. */
  readonly maxAgeMs: number;
}

interface LogOptions {
  readonly format: "text" | "json";
  /** klog's verbosity: 0 is what always shows, 2 the useful steady state, 4 debugging. */
  readonly verbosity: number;
  readonly vmodule: ReadonlyArray<{ readonly filePattern: string; readonly verbosity: number }>;
}

interface NodeAgentSources {
  configuration: KubeletConfiguration;
  featureGates: FeatureGates;
  /** The flags that were given, by name. */
  flags: ReadonlyMap<string, unknown>;
  /** The machine's host name. */
  hostname: string;
  /** The absolute directory from which relative paths of flags start. */
  workingDirectory: string;
  /** The home directory of the user that the node agent runs as. Default: none. */
  homeDirectory?: string;
}

const CONTAINER_LOGS_DIRECTORY = "/var/log/containers";

export function createNodeAgentConfig(sources: NodeAgentSources): {
  config: NodeAgentConfig;
  errors: ConfigurationError[];
} {
  const { configuration, flags, workingDirectory } = sources;
  const errors: ConfigurationError[] = [];
  const absolute = (path: string) => (path.startsWith("/") ? path : `${workingDirectory.replace(/\/$/, "")}/${path}`);
  const nodeSocket = readText(flags, "nodelet-socket", "");
  const keptImages = readText(flags, "nodelet-kept-images", "");
  const runtimeEndpoint = toUrl(configuration.containerRuntimeEndpoint);
  const rootDirectory = absolute(readText(flags, "root-dir", "/var/lib/kubelet"));
  const config: NodeAgentConfig = {
    kubelet: configuration,
    featureGates: sources.featureGates,
    nodeName: readNodeName(flags, sources.hostname, errors),
    nodeIps: readNodeIps(flags, errors),
    fallbackNodeIp: readFallbackNodeIp(flags, errors),
    rootDirectory,
    podLogsDirectory: configuration.podLogsDir,
    containerLogsDirectory: CONTAINER_LOGS_DIRECTORY,
    staticPodPath: configuration.staticPodPath === "" ? undefined : absolute(configuration.staticPodPath),
    manifestUrl: readManifestUrl(configuration.staticPodURL, errors),
    manifestUrlHeaders: readHeaders(configuration, errors),
    runtimeEndpoint,
    imageEndpoint:
      configuration.imageServiceEndpoint === "" ? runtimeEndpoint : toUrl(configuration.imageServiceEndpoint),
    nodeSocketPath: nodeSocket === "" ? undefined : absolute(nodeSocket),
    serverClients: readRanges(flags, errors),
    lockFile: readLockFile(flags, absolute),
    history: readHistoryConfig(flags, rootDirectory, errors),
    refusesForeignManifests: flags.get("nodelet-refuse-foreign-manifests") === true,
    ignoresOtherKinds: flags.get("nodelet-ignore-other-kinds") === true,
    keepsKernelTunables: flags.get("nodelet-keep-kernel-tunables") === true,
    keptImagesDirectory: keptImages === "" ? undefined : absolute(keptImages),
    ownsCgroupRoot: flags.get("nodelet-own-cgroup-root") === true,
    runtimeCgroup: readText(flags, "runtime-cgroups", ""),
    ignoresEvictionThresholds: flags.get("experimental-allocatable-ignore-eviction") === true,
    registryConfigs: computeRegistryConfigs(rootDirectory, sources),
    credentialProviders: readCredentialProviders(flags, absolute, errors),
    certDirectory: absolute(readText(flags, "cert-dir", "/var/lib/kubelet/pki")),
    tls: computeTlsOptions(configuration, errors),
    topology: computeTopologySettings(configuration, errors),
    cpus: computeCpuSettings(configuration, sources.featureGates, errors),
    cluster: readCluster(flags, absolute, errors),
    log: computeLogOptions(configuration),
    flags: describeFlags(flags),
  };
  errors.push(...validateModes(flags));
  return { config: Object.freeze(config), errors };
}

function readRanges(flags: ReadonlyMap<string, unknown>, errors: ConfigurationError[]): readonly string[] | undefined {
  const name = "nodelet-server-clients";
  const text = readText(flags, name, "");
  if (text === "") return undefined;
  const ranges = text.split(",");
  for (const range of ranges) {
    const [problem] = checkCidr(range);
    if (problem !== undefined) errors.push({ path: `--${name}`, message: `${range}: ${problem}` });
  }
  return ranges;
}

function readLockFile(
  flags: ReadonlyMap<string, unknown>,
  absolute: (path: string) => string,
): LockFileConfig | undefined {
  const path = readText(flags, "lock-file", "");
  if (path === "") return undefined;
  return { path: absolute(path), exitsOnContention: flags.get("exit-on-lock-contention") === true };
}

/** The least that the history can do with: it is given up in sixteenths. */
export const LEAST_HISTORY_BYTES = 1024 * 1024;

function readHistoryConfig(
  flags: ReadonlyMap<string, unknown>,
  rootDirectory: string,
  errors: ConfigurationError[],
): PodHistoryConfig | undefined {
  const maxBytes = readNumber(flags, "nodelet-history-size", DEFAULT_HISTORY_BYTES);
  const maxAgeMs = readNumber(flags, "nodelet-history-age", DEFAULT_HISTORY_AGE_MS);
  if (maxAgeMs < 0) {
    errors.push({
      path: "--nodelet-history-age",
      message: "--nodelet-history-age is below 0: give a duration, as 168h",
    });
  }
  if (maxBytes === 0) return undefined;
  if (maxBytes < LEAST_HISTORY_BYTES) {
    const message = `--nodelet-history-size ${maxBytes} is too small: give at least ${LEAST_HISTORY_BYTES}, or 0 for no history`;
    errors.push({ path: "--nodelet-history-size", message });
  }
  return { directory: podHistoryDirectory(rootDirectory), maxBytes, maxAgeMs };
}

/** The directory of the decisions about pods, beneath that of `--root-dir`. */
export function podHistoryDirectory(rootDirectory: string): string {
  return `${rootDirectory.replace(/\/$/, "")}/nodelet/history`;
}

function readNumber(flags: ReadonlyMap<string, unknown>, name: string, initial: number): number {
  const value = flags.get(name);
  return typeof value === "number" ? value : initial;
}

function computeLogOptions({ logging }: KubeletConfiguration): LogOptions {
  const format = logging.format === "json" ? "json" : "text";
  return { format, verbosity: logging.verbosity, vmodule: logging.vmodule ?? [] };
}

/** Computes the places where pkg/credentialprovider/config.go looks for the files. */
function computeRegistryConfigs(
  rootDirectory: string,
  { workingDirectory, homeDirectory = "" }: Pick<NodeAgentSources, "workingDirectory" | "homeDirectory">,
): RegistryConfigPaths {
  const join = (directory: string, name: string) => `${directory.replace(/\/$/, "")}/${name}`;
  const homes = homeDirectory === "" ? [] : [homeDirectory];
  const docker = [...homes, "/"].map((directory) => join(directory, ".docker"));
  return {
    configPaths: [rootDirectory, workingDirectory, ...docker].map((directory) => join(directory, "config.json")),
    legacyPaths: [rootDirectory, workingDirectory, ...homes, "/"].map((directory) => join(directory, ".dockercfg")),
  };
}

/** Each of the two flags needs the other. */
function readCredentialProviders(
  flags: ReadonlyMap<string, unknown>,
  absolute: (path: string) => string,
  errors: ConfigurationError[],
): CredentialProviderPaths | undefined {
  const names = ["image-credential-provider-config", "image-credential-provider-bin-dir"] as const;
  const [configPath, binDirectory] = names.map((name) => readText(flags, name, ""));
  if (configPath === "" && binDirectory === "") return undefined;
  if (configPath && binDirectory) return { configPath: absolute(configPath), binDirectory: absolute(binDirectory) };
  const [missing, given] = configPath === "" ? names : names.toReversed();
  errors.push({ path: `--${missing}`, message: `--${missing} is empty: --${given} needs it` });
  return undefined;
}

function readNodeName(flags: ReadonlyMap<string, unknown>, hostname: string, errors: ConfigurationError[]): string {
  const override = readText(flags, "hostname-override", "").trim();
  const name = (override === "" ? hostname.trim() : override).toLowerCase();
  if (checkDnsSubdomain(name).length > 0) {
    const message = `node name "${name}" must be a DNS subdomain (lower-case letters, digits, "-" and "."): set another with --hostname-override`;
    errors.push({ path: "--hostname-override", message });
  }
  return name;
}

function readNodeIps(flags: ReadonlyMap<string, unknown>, errors: ConfigurationError[]): readonly string[] {
  const given = readText(flags, "node-ip", "");
  if (given === "") return [];
  const addresses = given.split(",").map((address) => address.trim());
  const families = addresses.map((address) => isIP(address));
  const isUsable = !families.includes(0) && addresses.length <= 2 && new Set(families).size === families.length;
  if (!isUsable) {
    const message = `bad --node-ip "${given}": give one IP address, or one IPv4 and one IPv6 address separated by a comma`;
    errors.push({ path: "--node-ip", message });
  }
  return addresses;
}

function readFallbackNodeIp(flags: ReadonlyMap<string, unknown>, errors: ConfigurationError[]): string | undefined {
  const name = "nodelet-fallback-node-ip";
  const address = readText(flags, name, "");
  if (address === "") return undefined;
  if (isIP(address) === 0)
    errors.push({ path: `--${name}`, message: `bad --${name} "${address}": give one IP address` });
  return address;
}

function readManifestUrl(url: string, errors: ConfigurationError[]): string | undefined {
  if (url === "") return undefined;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    errors.push({
      path: "staticPodURL",
      message: `staticPodURL (--manifest-url) "${url}" must be an http:// or https:// URL`,
    });
  }
  return url;
}

function readHeaders(
  { staticPodURLHeader }: KubeletConfiguration,
  errors: ConfigurationError[],
): ReadonlyArray<readonly [string, string]> {
  const headers = Object.entries(staticPodURLHeader ?? {}).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  for (const [name, value] of headers) {
    // The value may be a secret and stays out of the message.
    if (!/^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      const message = `staticPodURLHeader (--manifest-url-header) "${name}" is no valid HTTP header`;
      errors.push({ path: `staticPodURLHeader[${name}]`, message });
    }
  }
  return headers;
}

function readCluster(
  flags: ReadonlyMap<string, unknown>,
  absolute: (path: string) => string,
  errors: ConfigurationError[],
): ClusterConfig | undefined {
  const kubeconfig = readText(flags, "kubeconfig", "");
  const bootstrapKubeconfig = readText(flags, "bootstrap-kubeconfig", "");
  const cloudProvider = readText(flags, "cloud-provider", "");
  if (cloudProvider !== "" && cloudProvider !== "external") {
    const message = `unknown cloud provider "${cloudProvider}" (--cloud-provider): "external" is the only one, or leave it out`;
    errors.push({ path: "--cloud-provider", message });
  }
  if (kubeconfig === "") {
    if (bootstrapKubeconfig !== "") {
      const message = "--bootstrap-kubeconfig needs --kubeconfig, the file that the bootstrap writes";
      errors.push({ path: "--bootstrap-kubeconfig", message });
    }
    return undefined;
  }
  return {
    kubeconfigPath: absolute(kubeconfig),
    bootstrapKubeconfigPath: bootstrapKubeconfig === "" ? undefined : absolute(bootstrapKubeconfig),
    nodeLabels: readLabels(flags.get("node-labels")),
    registerSchedulable: flags.get("register-schedulable") !== false,
    cloudProvider: cloudProvider === "external" ? "external" : "",
  };
}

function readLabels(labels: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(isRecord(labels) ? labels : {}).map(([name, value]) => [name, String(value)]),
  );
}

/** Refuses flags that contradict each other, or that name something that does not exist. */
function validateModes(flags: ReadonlyMap<string, unknown>): ConfigurationError[] {
  const errors: ConfigurationError[] = [];
  if (flags.get("exit-on-lock-contention") === true && readText(flags, "lock-file", "") === "") {
    const message = "cannot exit on lock file contention: no lock file specified, set --lock-file";
    errors.push({ path: "--exit-on-lock-contention", message });
  }
  const runtime = readText(flags, "container-runtime", "remote");
  if (runtime !== "remote") {
    const message = `unknown container runtime "${runtime}" (--container-runtime): the only one is "remote"`;
    errors.push({ path: "--container-runtime", message });
  }
  errors.push(...validateNodeLabels(flags.get("node-labels")));
  return errors;
}

function validateNodeLabels(labels: unknown): ConfigurationError[] {
  const unknown = Object.keys(isRecord(labels) ? labels : {}).filter((label) => !mayNodeSetLabel(label));
  if (unknown.length === 0) return [];
  const message = `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${unknown.join(" ")}]; use the prefix kubelet.kubernetes.io or node.kubernetes.io`;
  return [{ path: "--node-labels", message }];
}

function toUrl(endpoint: string): string {
  return `unix://${endpoint.replace(/^unix:(\/\/)?/, "")}`;
}

function readText(flags: ReadonlyMap<string, unknown>, name: string, initial: string): string {
  const value = flags.get(name);
  return typeof value === "string" ? value : initial;
}
