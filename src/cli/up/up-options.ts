import type { AuditFlags } from "../audit-flags.ts";
import type { LogFlags } from "../log-options.ts";

/** The settings, by flags, file and defaults. */
export interface UpOptions extends LogFlags, AuditFlags {
  detach: boolean;
  /** The path is absolute; undefined means `manifests` in the state directory. */
  manifests?: string;
  pods: boolean;
  waitTimeout: number;
  podCidr: string;
  bridge: string;
  containerd: string;
  healthzPort: number;
  apiAddress: string;
  apiPort: number;
  serviceCidr: string;
  proxy: boolean;
  dns: boolean;
  scheduler: boolean;
  controllers: boolean;
  kubeletArg: string[];
  stateDir: string;
  /** True in the background process of `--detach`. */
  supervisor: boolean;
}

/** What commander reads beside the settings. */
export interface UpSources {
  /** A path; false: no file, not even the default one. Undefined: the default one where it exists. */
  readonly config?: string | false;
  readonly printConfig: boolean;
}
