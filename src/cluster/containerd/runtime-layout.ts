import { createHash } from "node:crypto";
import { join } from "node:path";

/** The paths of one containerd. All lie beneath its directory, except what CNI keeps under fixed paths. */
export interface RuntimeLayout {
  directory: string;
  config: string;
  root: string;
  state: string;
  socket: string;
  pidFile: string;
  logFile: string;
  /** The file with the boot that `state` belongs to. After another boot nothing in `state` is true any more. */
  bootIdFile: string;
  /** runc's own state, with a directory for each container beneath a directory for each containerd namespace. */
  runcRoot: string;
  cniConfigDirectory: string;
  /** The addresses that host-local has given out. */
  cniAddressDirectory: string;
  /** A bind mount of the mount namespace that containerd and its shims live in, where one was made. */
  mountNamespace: string;
  /**
   * The name is unique to the directory. It names what CNI plugins leave outside it (cached results, iptables
   * comments).
   */
  networkName: string;
}

/** Computes the layout beneath an absolute directory. */
export function computeRuntimeLayout(directory: string): RuntimeLayout {
  const state = join(directory, "state");
  return {
    directory,
    config: join(directory, "config.toml"),
    root: join(directory, "root"),
    state,
    socket: join(directory, "containerd.sock"),
    pidFile: join(directory, "containerd.pid"),
    logFile: join(directory, "containerd.log"),
    bootIdFile: join(directory, "boot-id"),
    runcRoot: join(state, "runc"),
    cniConfigDirectory: join(directory, "cni"),
    cniAddressDirectory: join(directory, "cni-addresses"),
    mountNamespace: join(directory, "mount-namespace"),
    networkName: `nodelet-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`,
  };
}

/** The configuration of the pod network. */
export function networkConfigPath({ cniConfigDirectory }: Pick<RuntimeLayout, "cniConfigDirectory">): string {
  return join(cniConfigDirectory, "10-nodelet.conflist");
}

/** True for the arguments of the containerd that was started on this layout, and for no other process. */
export function isContainerdOf(layout: RuntimeLayout, args: readonly string[]): boolean {
  const config = args.indexOf("--config");
  return config > 0 && args[config + 1] === layout.config && /(^|\/)containerd$/.test(args[config - 1] ?? "");
}

/** True for the arguments of a shim that serves the containerd of this layout. */
export function isShimOf(layout: RuntimeLayout, args: readonly string[]): boolean {
  const address = args.indexOf("-address");
  return address > 0 && args[address + 1] === layout.socket && /(^|\/)containerd-shim-/.test(args[0] ?? "");
}

/**
 * True for the environment of a CNI plugin that works for a sandbox of this layout, or of a program that such a plugin
 * runs. These processes outlive a containerd that ends meanwhile.
 */
export function isPluginOf({ state }: RuntimeLayout, environment: readonly string[]): boolean {
  return environment.some((variable) => variable.startsWith(`CNI_NETNS=${state}/`));
}
