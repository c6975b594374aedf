import { CONFIGURATION_FLAGS } from "./configuration-flags.ts";
import { BOOL_FLAG, type Flag } from "./flag-types.ts";
import { PROCESS_FLAGS } from "./process-flags.ts";

const HELP: Flag = {
  name: "help",
  shorthand: "h",
  type: BOOL_FLAG,
  help: "Help for kubelet",
  initial: false,
  effect: "works",
};

/** Every flag of kubelets from 1.25 to 1.36, by name. */
export const KUBELET_FLAGS: readonly Flag[] = [HELP, ...CONFIGURATION_FLAGS, ...PROCESS_FLAGS].sort((a, b) =>
  a.name < b.name ? -1 : 1,
);
