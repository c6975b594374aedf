import { join } from "node:path";
import type { RuntimeLayout } from "./runtime-layout.ts";

/** The facts of this machine that the configuration depends on, besides the layout. */
export interface ContainerdConfigOptions {
  version: ContainerdVersion;
  sandboxImage: string;
  cniBinDirectory: string;
  snapshotter: "overlayfs" | "native";
  /** Without CAP_SYS_RESOURCE runc may not lower `oom_score_adj` and every sandbox that asks for it would fail. */
  restrictOomScoreAdj: boolean;
  /** runc has systemd make the cgroups of containers, which is a must where systemd owns them. */
  systemdCgroup: boolean;
  /** The directory with a `hosts.toml` for each registry. Default: containerd asks each registry itself. */
  registries?: string | undefined;
}

export interface ContainerdVersion {
  major: number;
  minor: number;
  /** The version as the program prints it. */
  text: string;
}

/** These plugins would probe devices or directories that are not ours. */
const DISABLED_PLUGINS = ["aufs", "btrfs", "devmapper", "zfs", "blockfile"].map(
  (name) => `io.containerd.snapshotter.v1.${name}`,
);

/** Reads what `containerd --version` prints; undefined when it is not containerd's. */
export function parseContainerdVersion(printed: string): ContainerdVersion | undefined {
  const match = /\bcontainerd\b.*?\bv?((\d+)\.(\d+)\.\d+\S*)/.exec(printed);
  if (match === null) return undefined;
  return { major: Number(match[2]), minor: Number(match[3]), text: match[1] ?? "" };
}

/** Computes the text of containerd's `config.toml`: version 2 for 1.6 and 1.7, version 3 for 2.x. */
export function computeContainerdConfig(layout: RuntimeLayout, options: ContainerdConfigOptions): string {
  const sections = options.version.major >= 2 ? criSectionsV3(layout, options) : criSectionsV2(layout, options);
  return [...serverLines(layout, options.version), ...sections, ""].join("\n");
}

function serverLines(layout: RuntimeLayout, version: ContainerdVersion): string[] {
  return [
    "# Written by nodelet at every start; changes are lost.",
    `version = ${version.major >= 2 ? 3 : 2}`,
    `root = ${quote(layout.root)}`,
    `state = ${quote(layout.state)}`,
    `disabled_plugins = [${DISABLED_PLUGINS.map(quote).join(", ")}]`,
    "",
    "[grpc]",
    `  address = ${quote(layout.socket)}`,
    "",
    `[plugins."io.containerd.internal.v1.opt"]`,
    `  path = ${quote(join(layout.directory, "opt"))}`,
    "",
    ...(version.major === 1 && version.minor < 7
      ? []
      : [`[plugins."io.containerd.nri.v1.nri"]`, "  disable = true", ""]),
    // Otherwise the layers of a removed container are deleted 50 times as long after it as that took before.
    `[plugins."io.containerd.gc.v1.scheduler"]`,
    "  deletion_threshold = 1",
    `  schedule_delay = "500ms"`,
    "",
  ];
}

function criSectionsV2(layout: RuntimeLayout, options: ContainerdConfigOptions): string[] {
  const cri = `plugins."io.containerd.grpc.v1.cri"`;
  return [
    `[${cri}]`,
    `  sandbox_image = ${quote(options.sandboxImage)}`,
    `  stream_server_address = "127.0.0.1"`,
    `  stream_server_port = "0"`,
    ...commonRuntimeLines(options),
    // The devices of claims come by CDI; 1.6 does not know it, and from 2.0 on it is the default.
    ...(options.version.minor < 7 ? [] : ["  enable_cdi = true"]),
    "",
    `[${cri}.containerd]`,
    `  snapshotter = ${quote(options.snapshotter)}`,
    `  default_runtime_name = "runc"`,
    "",
    ...registrySection(cri, options),
    ...runcSections(`${cri}.containerd.runtimes.runc`, layout, options),
    `[${cri}.cni]`,
    `  bin_dir = ${quote(options.cniBinDirectory)}`,
    `  conf_dir = ${quote(layout.cniConfigDirectory)}`,
  ];
}

function criSectionsV3(layout: RuntimeLayout, options: ContainerdConfigOptions): string[] {
  const images = `plugins."io.containerd.cri.v1.images"`;
  const runtime = `plugins."io.containerd.cri.v1.runtime"`;
  const { version } = options;
  const severalBinDirectories = version.major > 2 || version.minor >= 1;
  return [
    `[${images}]`,
    `  snapshotter = ${quote(options.snapshotter)}`,
    "",
    ...registrySection(images, options),
    `[${images}.pinned_images]`,
    `  sandbox = ${quote(options.sandboxImage)}`,
    "",
    `[plugins."io.containerd.grpc.v1.cri"]`,
    `  stream_server_address = "127.0.0.1"`,
    `  stream_server_port = "0"`,
    "",
    `[${runtime}]`,
    ...commonRuntimeLines(options),
    "",
    `[${runtime}.containerd]`,
    `  default_runtime_name = "runc"`,
    "",
    ...runcSections(`${runtime}.containerd.runtimes.runc`, layout, options),
    `[${runtime}.cni]`,
    severalBinDirectories
      ? `  bin_dirs = [${quote(options.cniBinDirectory)}]`
      : `  bin_dir = ${quote(options.cniBinDirectory)}`,
    `  conf_dir = ${quote(layout.cniConfigDirectory)}`,
  ];
}

function registrySection(plugin: string, { registries }: ContainerdConfigOptions): string[] {
  return registries === undefined ? [] : [`[${plugin}.registry]`, `  config_path = ${quote(registries)}`, ""];
}

function commonRuntimeLines(options: ContainerdConfigOptions): string[] {
  return [`  restrict_oom_score_adj = ${options.restrictOomScoreAdj}`, "  netns_mounts_under_state_dir = true"];
}

function runcSections(name: string, layout: RuntimeLayout, { systemdCgroup }: ContainerdConfigOptions): string[] {
  return [
    `[${name}]`,
    `  runtime_type = "io.containerd.runc.v2"`,
    "",
    `[${name}.options]`,
    `  Root = ${quote(layout.runcRoot)}`,
    `  SystemdCgroup = ${systemdCgroup}`,
    "",
  ];
}

/** Quotes a TOML basic string. JSON's escapes are a subset of TOML's. */
function quote(text: string): string {
  return JSON.stringify(text);
}
