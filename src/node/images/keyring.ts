import type { Secret } from "../../api/gen/types.ts";
import { type RegistryCredentials, readDockerConfig } from "./docker-config.ts";
import { matchesGlob } from "./glob.ts";
import { withRegistry } from "./image-name.ts";

/** The credentials of a pod's image pull secrets, by the registries that they are for. */
export interface Keyring {
  /** Those that may open the image's repository, the most specific first, each once. */
  credentialsFor(image: string): readonly RegistryCredentials[];
  /** Secrets that hold no readable configuration: name and what is wrong, without their content. */
  readonly malformed: ReadonlyArray<{ name: string; error: string }>;
}

/** Where Docker Hub's credentials are filed under, whatever an image's name says of it. */
const DEFAULT_REGISTRY = "index.docker.io";

/** In the order of the secrets where several are for one registry. Follows pkg/credentialprovider/keyring.go. */
export function createKeyring(secrets: readonly Secret[]): Keyring {
  const byKey = new Map<string, RegistryCredentials[]>();
  const malformed: Array<{ name: string; error: string }> = [];
  for (const secret of secrets) {
    const config = readDockerConfig(secret);
    if (!config.ok) {
      malformed.push({ name: secret.metadata?.name ?? "", error: config.error });
      continue;
    }
    for (const { key, credentials } of config.entries) {
      const place = registryPlace(key);
      byKey.set(place, [...(byKey.get(place) ?? []), credentials]);
    }
  }
  // Backwards by their characters: a longer path comes before the shorter one that it begins with.
  const keys = [...byKey.keys()].toSorted((a, b) => (a < b ? 1 : -1));

  return {
    malformed,
    credentialsFor(image) {
      const repository = withRegistry(image);
      const matching = keys.filter((key) => matchesPlace(key, repository)).flatMap((key) => byKey.get(key) ?? []);
      if (matching.length > 0) return unique(matching);
      return isOnDefaultRegistry(repository) ? unique(byKey.get(DEFAULT_REGISTRY) ?? []) : [];
    },
  };
}

/** Host and path of an entry's key. `/v1/` and `/v2/` are the registry's API and no part of a repository. */
function registryPlace(key: string): string {
  const [, host = "", path = ""] = /^(?:https?:\/\/)?(?:[^/?#]*@)?([^/?#]*)([^?#]*)/.exec(key) ?? [];
  const within = /^\/v[12]\//.test(path) ? path.slice("/v1".length) : path;
  return within === "/" ? host : host + within;
}

/** Wildcards stand for the parts of a host name, never across a dot; ports are equal, the path is a beginning. */
function matchesPlace(key: string, repository: string): boolean {
  const [wanted, actual] = [splitPlace(key), splitPlace(repository)];
  if (wanted.port !== actual.port || !actual.path.startsWith(wanted.path)) return false;
  if (wanted.labels.length !== actual.labels.length) return false;
  return wanted.labels.every((label, index) => matchesGlob(label, actual.labels[index] ?? ""));
}

function splitPlace(place: string): { labels: string[]; port: string; path: string } {
  const slash = place.indexOf("/");
  const authority = slash < 0 ? place : place.slice(0, slash);
  const path = slash < 0 ? "" : place.slice(slash);
  // The brackets of an IPv6 address would otherwise be a set of characters.
  const [, ipv6, name, port = ""] = /^(?:\[([^\]]*:[^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(authority) ?? [];
  return { labels: (ipv6 ?? name ?? authority).split("."), port, path };
}

function isOnDefaultRegistry(repository: string): boolean {
  return repository.startsWith("docker.io/") || repository.startsWith(`${DEFAULT_REGISTRY}/`);
}

function unique(all: readonly RegistryCredentials[]): RegistryCredentials[] {
  const seen = new Map(all.map((one) => [JSON.stringify([one.username, one.password, one.identityToken]), one]));
  return [...seen.values()];
}
