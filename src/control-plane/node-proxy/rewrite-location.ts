interface ProxiedPlace {
  /** The path under which the proxied server appears. */
  readonly prefix: string;
  /** `10.0.0.1:80`, and the host by which the client calls the API server: both mean the proxied server. */
  readonly hosts: readonly string[];
}

/**
 * The location of a redirect of a proxied server, as a path through the proxy. Redirects to other servers and those
 * relative to the page stay as they are (`rewriteURL` of apimachinery/pkg/util/proxy/transport.go).
 */
export function rewriteLocation(location: string, { prefix, hosts }: ProxiedPlace): string {
  const parts = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/i.exec(location);
  const [, , host = "", path = "", more = ""] = parts ?? [];
  const isElsewhere = host !== "" && !hosts.includes(host);
  if (isElsewhere || !path.startsWith("/")) return location;
  return path.startsWith(prefix) ? `${path}${more}` : `${prefix}${path}${more}`;
}
