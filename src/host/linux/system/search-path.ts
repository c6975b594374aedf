/** In the order in which a shell of root has them. */
const SYSTEM_DIRECTORIES = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/**
 * Computes where programs are looked for: in what `PATH` names, and then in the system's directories. `su`, cron and
 * services leave out those of an administrator's programs, in which iptables and mkfs are.
 */
export function computeSearchPath(path: string | undefined): string {
  // An empty name would be the directory that somebody happens to be in.
  const named = (path ?? "").split(":").filter((directory) => directory !== "");
  return [...named, ...SYSTEM_DIRECTORIES.filter((directory) => !named.includes(directory))].join(":");
}
