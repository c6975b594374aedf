import { readFile } from "node:fs/promises";
import { readNameServers } from "../../dns/forward/name-servers.ts";
import { ensureFile } from "../processes/ensure-file.ts";

/** The machine's own; the second is that of systemd-resolved, which puts its own address on loopback into the first. */
const CANDIDATES = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"] as const;

interface ResolverChoice {
  /** Where the file is written that names our DNS server. */
  file: string;
  /** The address of our DNS server, which asks the machine's; undefined where there is none. */
  ownServer: string | undefined;
  /** Default: the machine's files. */
  candidates?: readonly [string, ...string[]];
}

/**
 * Chooses the resolv.conf that pods inherit from this machine. Name servers on loopback, as systemd-resolved, dnsmasq and
 * unbound have theirs, answer no pod: its loopback is its own. The first file that names another is chosen, then one
 * with our own DNS server, and without that the machine's as it is.
 */
export async function chooseResolvConf(choice: ResolverChoice): Promise<string> {
  const { file, ownServer, candidates = CANDIDATES } = choice;
  const [usual] = candidates;
  if (!(await namesOnlyLoopback(usual))) return usual;
  for (const candidate of candidates) if (await namesAnother(candidate)) return candidate;
  if (ownServer === undefined) return usual;
  await ensureFile(file, `nameserver ${ownServer}\n`);
  return file;
}

async function namesAnother(path: string): Promise<boolean> {
  return (await readAddresses(path)).some((address) => !isLoopback(address));
}

/** A file without name servers means that the machine asks nobody, and then pods need not either. */
async function namesOnlyLoopback(path: string): Promise<boolean> {
  const addresses = await readAddresses(path);
  return addresses.length > 0 && addresses.every(isLoopback);
}

async function readAddresses(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return readNameServers(text).map(({ address }) => address);
}

const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";
