import { findProgram } from "../../../src/cluster/containerd/machine-facts.ts";

/** Programs that the machine is built and run with, and the Debian package of each. */
const TOOLS = {
  mmdebstrap: "mmdebstrap",
  mke2fs: "e2fsprogs",
  chroot: "coreutils",
  "qemu-system-x86_64": "qemu-system-x86",
  nsenter: "util-linux",
  unshare: "util-linux",
} as const;

/** Rejects with the packages that are missing, where one is. */
export async function requireTools(names: readonly (keyof typeof TOOLS)[]): Promise<void> {
  const found = await Promise.all(names.map(async (name) => await findProgram(name)));
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((name) => TOOLS[name]))].join(" ");
  throw new Error(`${missing.join(", ")} missing: apt-get install --no-install-recommends ${packages}`);
}
