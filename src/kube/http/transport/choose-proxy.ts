import { BlockList, isIP, isIPv4 } from "node:net";

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a server, as Go's `http.ProxyFromEnvironment` reads it: HTTPS_PROXY or
 * HTTP_PROXY by the server's scheme, upper case first; never for this machine; not for what NO_PROXY lists.
 */
export function chooseProxy(server: URL, environment: Environment): string | undefined {
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = read(environment, name);
  if (proxy === "" || isThisMachine(server.hostname)) return undefined;
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  const rules = read(environment, "NO_PROXY").split(",");
  if (rules.some((rule) => matches(rule.trim().toLowerCase(), hostOf(server), port))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function read(environment: Environment, name: string): string {
  return environment[name] || environment[name.toLowerCase()] || "";
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** One entry of NO_PROXY: `*`, an address, a CIDR, `example.com` with all below it, `.example.com` without itself. */
function matches(rule: string, host: string, port: string): boolean {
  if (rule === "") return false;
  if (rule === "*") return true;
  if (rule.includes("/")) return isInRange(rule, host);
  const [, name = rule, rulePort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(rule) ?? [];
  if (rulePort !== undefined && rulePort !== port) return false;
  const plain = name.replace(/^\[|\]$/g, "");
  if (isIP(plain) !== 0) return plain === host;
  const suffix = plain.replace(/^\*(?=\.)/, "");
  if (suffix.startsWith(".")) return host.endsWith(suffix);
  return host === suffix || host.endsWith(`.${suffix}`);
}

function isInRange(rule: string, host: string): boolean {
  const [network = "", length = ""] = rule.split("/");
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(length)) return false;
  if (Number(length) > (family === 4 ? 32 : 128)) return false;
  const range = new BlockList();
  range.addSubnet(network, Number(length), family === 4 ? "ipv4" : "ipv6");
  return range.check(host, family === 4 ? "ipv4" : "ipv6");
}
