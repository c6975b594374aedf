import { matchesGlob } from "../base/glob.ts";

/** Host, port and path of a place in a registry: `*.example.com:5000/team`. */
interface RegistryPlace {
  readonly labels: readonly string[];
  readonly port: string;
  readonly path: string;
}

/**
 * True if a repository (`registry.example/team/app`) lies at a place that credentials are for. A wildcard stands for
 * parts of a host name, never across a dot. The ports must be equal, and the pattern's path must be a beginning of the
 * repository's. Follows URLsMatch of pkg/credentialprovider/keyring.go.
 */
export function matchesRegistryPattern(pattern: string, repository: string): boolean {
  const [wanted, actual] = [splitPlace(pattern), splitPlace(repository)];
  if (wanted.port !== actual.port || !actual.path.startsWith(wanted.path)) return false;
  if (wanted.labels.length !== actual.labels.length) return false;
  return wanted.labels.every((label, index) => matchesGlob(label, actual.labels[index] ?? ""));
}

function splitPlace(place: string): RegistryPlace {
  const slash = place.indexOf("/");
  const authority = slash < 0 ? place : place.slice(0, slash);
  const path = slash < 0 ? "" : place.slice(slash);
  // The brackets of an IPv6 address would otherwise be a set of characters.
  const [, ipv6, name, port = ""] = /^(?:\[([^\]]*:[^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(authority) ?? [];
  return { labels: (ipv6 ?? name ?? authority).split("."), port, path };
}
