import { DEFAULT_BRIDGE, DEFAULT_POD_CIDR } from "../../cluster/containerd/cni-config.ts";
import { DEFAULT_STATE_DIRECTORY } from "../../cluster/supervisor/state-layout.ts";
import { ipv4FirstRanges } from "../address-ranges.ts";
import { AUDIT_SETTINGS } from "../audit-settings.ts";
import { bridgeName, ipAddress, MAX_PORT } from "../flag-values.ts";
import {
  LOG_FORMAT_ABOUT,
  LOG_FORMAT_FLAGS,
  LOG_FORMATS,
  MAX_VERBOSITY,
  VERBOSITY_ABOUT,
  VERBOSITY_FLAGS,
} from "../log-options.ts";

/** What every setting of `nodelet up` has. */
interface CommonSetting {
  /** Its name in the configuration file. */
  readonly field: string;
  /** Its flags as commander writes them. */
  readonly flags: string;
  readonly about: string;
}

/** A setting of `nodelet up`: a flag, a field of its file, a property of the schema and a row of the documents. */
export type UpSetting = CommonSetting &
  (
    | { readonly kind: "switch"; readonly preset: boolean }
    | { readonly kind: "number"; readonly preset: number; readonly least: number; readonly most: number }
    | { readonly kind: "choice"; readonly preset: string; readonly choices: readonly string[] }
    | { readonly kind: "list"; readonly preset: readonly string[] }
    | (TextSetting & { readonly kind: "text" })
    /** A relative path is taken from the working directory, and in a file from the file's. */
    | (TextSetting & { readonly kind: "path" })
  );

interface TextSetting {
  /** Undefined where the default depends on another setting; `about` says how. */
  readonly preset: string | undefined;
  /** The default in words. */
  readonly presetAbout?: string;
  /** Returns the value as it is used. Throws commander's InvalidArgumentError, whose message says what it must be. */
  readonly read?: (text: string) => string;
}

const SECOND_FAMILY = "; two families have two ranges, as 10.96.0.0/16,fd00:96::/112";

/** Where the Kubernetes API listens: of `up`, and of `control-plane`. */
export const API_SETTINGS = {
  address: { flags: "--api-address <ip>", about: "where the Kubernetes API listens", preset: "127.0.0.1" },
  port: { flags: "--api-port <port>", about: "port of the Kubernetes API", preset: 6443 },
  services: { flags: "--service-cidr <cidrs>", about: `addresses of services${SECOND_FAMILY}`, preset: "10.96.0.0/16" },
} as const;

/** The parts of the control plane that can be left to programs of Kubernetes': of `up`, and of `control-plane`. */
export const CONTROL_SETTINGS = {
  scheduler: { flags: "--no-scheduler", about: "leave placing pods to a kube-scheduler that you run" },
  controllers: {
    flags: "--no-controllers",
    about: "leave the work of kube-controller-manager to one that you run",
  },
} as const;

/** The file of settings that is read where no other is named, if it is there. */
export const DEFAULT_UP_FILE = "/etc/nodelet/up.yaml";

/** All settings, in the order of the help. */
export const UP_SETTINGS: readonly UpSetting[] = [
  {
    field: "detach",
    flags: "-d, --detach",
    about: "return when the pods are running, go on in the background",
    kind: "switch",
    preset: false,
  },
  {
    field: "manifests",
    flags: "--manifests <dir>",
    about: "run and apply what is in this directory, pods and all else (default: manifests in the state directory)",
    kind: "path",
    preset: undefined,
  },
  {
    field: "pods",
    flags: "--pods",
    about: "remove the pods too when it is stopped",
    kind: "switch",
    preset: false,
  },
  {
    field: "waitTimeout",
    flags: "--wait-timeout <seconds>",
    about: "with --detach: wait this long for the pods",
    kind: "number",
    preset: 120,
    least: 1,
    most: 86_400,
  },
  {
    field: "podCidr",
    flags: "--pod-cidr <cidrs>",
    about: `addresses of pods${SECOND_FAMILY}`,
    kind: "text",
    preset: DEFAULT_POD_CIDR,
    read: ipv4FirstRanges,
  },
  {
    field: "bridge",
    flags: "--bridge <name>",
    about: "network interface that connects the pods",
    kind: "text",
    preset: DEFAULT_BRIDGE,
    read: bridgeName,
  },
  {
    field: "containerd",
    flags: "--containerd <path>",
    about: "the containerd to run",
    kind: "text",
    preset: "containerd",
    presetAbout: "the one on the search path",
  },
  {
    field: "healthzPort",
    flags: "--healthz-port <port>",
    about: "health server of the node agent on 127.0.0.1, 0 for none",
    kind: "number",
    preset: 10_248,
    least: 0,
    most: MAX_PORT,
  },
  { field: "apiAddress", ...API_SETTINGS.address, kind: "text", read: ipAddress },
  { field: "apiPort", ...API_SETTINGS.port, kind: "number", least: 1, most: MAX_PORT },
  { field: "serviceCidr", ...API_SETTINGS.services, kind: "text", read: ipv4FirstRanges },
  {
    field: "proxy",
    flags: "--no-proxy",
    about: "leave services to a proxy that you run",
    kind: "switch",
    preset: true,
  },
  {
    field: "dns",
    flags: "--no-dns",
    about: "leave the cluster's names to a DNS server that you run, such as CoreDNS, at the tenth address of services",
    kind: "switch",
    preset: true,
  },
  { field: "scheduler", ...CONTROL_SETTINGS.scheduler, kind: "switch", preset: true },
  { field: "controllers", ...CONTROL_SETTINGS.controllers, kind: "switch", preset: true },
  {
    field: "kubeletArg",
    flags: "--kubelet-arg <flag>",
    about: "pass a flag on to the node agent, e.g. --kubelet-arg=--v=4; repeatable",
    kind: "list",
    preset: [],
  },
  ...AUDIT_SETTINGS,
  {
    field: "stateDir",
    flags: "--state-dir <dir>",
    about: "where it keeps everything",
    kind: "path",
    preset: DEFAULT_STATE_DIRECTORY,
  },
  {
    field: "logFormat",
    flags: LOG_FORMAT_FLAGS,
    about: LOG_FORMAT_ABOUT,
    kind: "choice",
    preset: "text",
    choices: LOG_FORMATS,
  },
  {
    field: "v",
    flags: VERBOSITY_FLAGS,
    about: VERBOSITY_ABOUT,
    kind: "number",
    preset: 0,
    least: 0,
    most: MAX_VERBOSITY,
  },
];
