import type { Secret } from "../../../api/gen/types.ts";
import { matchesRegistryPattern } from "../../../api/registry-pattern.ts";
import { readPullSecret } from "./docker-config.ts";
import { withRegistry } from "./image-name.ts";
import type { CredentialSource, PullCredentials, RegistryEntry } from "./pull-credentials.ts";

/** Credentials by the registries that they are for. */
interface Keyring {
  /** Those that may open the image's repository, the most specific first. */
  credentialsFor(image: string): readonly PullCredentials[];
}

/** Entries of one configuration. */
export interface KeyringSource {
  readonly source: CredentialSource;
  readonly entries: readonly RegistryEntry[];
}

/** Where Docker Hub's credentials are filed under, whatever an image's name says of it. */
const DEFAULT_REGISTRY = "index.docker.io";

/** In the order of the sources where several are for one registry. Follows pkg/credentialprovider/keyring.go. */
export function createKeyring(sources: readonly KeyringSource[]): Keyring {
  const byKey = new Map<string, PullCredentials[]>();
  for (const { source, entries } of sources) {
    for (const { key, credentials, hash } of entries) {
      const place = registryPlace(key);
      byKey.set(place, [...(byKey.get(place) ?? []), { credentials, hash, source }]);
    }
  }
  // Backwards by their characters: a longer path comes before the shorter one that it begins with.
  const keys = [...byKey.keys()].toSorted((a, b) => (a < b ? 1 : -1));
  return {
    credentialsFor(image) {
      const repository = withRegistry(image);
      const matching = keys.filter((key) => matchesRegistryPattern(key, repository));
      if (matching.length > 0) return matching.flatMap((key) => byKey.get(key) ?? []);
      return isOnDefaultRegistry(repository) ? (byKey.get(DEFAULT_REGISTRY) ?? []) : [];
    },
  };
}

/** What the pull secrets of a pod hold. */
interface SecretEntries {
  readonly sources: readonly KeyringSource[];
  /** Secrets that hold no readable configuration: name and what is wrong, without their content. */
  readonly malformed: ReadonlyArray<{ readonly name: string; readonly error: string }>;
}

/** Reads the secrets in their order; one that cannot be read does not keep the others from counting. */
export function readPullSecrets(secrets: readonly Secret[]): SecretEntries {
  const sources: KeyringSource[] = [];
  const malformed: Array<{ name: string; error: string }> = [];
  for (const secret of secrets) {
    const config = readPullSecret(secret);
    const { uid = "", namespace = "", name = "" } = secret.metadata ?? {};
    if (config.ok) sources.push({ source: { kind: "secret", uid, namespace, name }, entries: config.entries });
    else malformed.push({ name, error: config.error });
  }
  return { sources, malformed };
}

/** Host and path of an entry's key. `/v1/` and `/v2/` are the registry's API and no part of a repository. */
function registryPlace(key: string): string {
  const [, host = "", path = ""] = /^(?:https?:\/\/)?(?:[^/?#]*@)?([^/?#]*)([^?#]*)/.exec(key) ?? [];
  const within = /^\/v[12]\//.test(path) ? path.slice("/v1".length) : path;
  return within === "/" ? host : host + within;
}

function isOnDefaultRegistry(repository: string): boolean {
  return repository.startsWith("docker.io/") || repository.startsWith(`${DEFAULT_REGISTRY}/`);
}
