import type { Pod, Secret } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { Timeline } from "../../../base/timeline.ts";
import { withRegistry } from "./image-name.ts";
import { createKeyring, type KeyringSource, readPullSecrets } from "./keyring.ts";
import { hashCredentials, type PullCredentials, type RegistryEntry, type SourceObject } from "./pull-credentials.ts";

/** The secrets of `imagePullSecrets` that there are, and the names of those that could not be had. */
export interface FoundPullSecrets {
  readonly secrets: readonly Secret[];
  readonly missing: readonly string[];
}

/** What one of the node's credential providers gave for a repository. */
interface ProvidedCredentials {
  readonly registries: ReadonlyArray<{ readonly key: string; readonly username: string; readonly password: string }>;
  /** In whose name they were given; undefined: to the node. */
  readonly serviceAccount: SourceObject | undefined;
}

/** Where credentials come from. */
export interface CredentialDeps {
  readonly timeline: Timeline;
  pullSecrets(pod: Pod, signal: AbortSignal): Promise<FoundPullSecrets>;
  /** The node's own credentials, which every pod may use. */
  nodeEntries(): Promise<readonly RegistryEntry[]>;
  /** The credentials of the node's plugins, in the plugins' order; undefined where it has no plugins. */
  providedCredentials:
    | ((repository: string, pod: Pod, signal: AbortSignal) => Promise<readonly ProvidedCredentials[]>)
    | undefined;
}

/**
 * Credentials for a pull in the order in which they are tried: the pod's secrets, then the node's own, then those of its
 * plugins (pkg/kubelet/images/image_manager.go, makeLookupPullCredentialsFunc); empty: without any. What is wrong with the
 * pod's secrets is an event, and the pull goes on with the others: the image may be open to all.
 */
export async function findCredentials(
  deps: CredentialDeps,
  pod: Pod,
  image: string,
  signal: AbortSignal,
): Promise<readonly PullCredentials[]> {
  const fromSecrets = await readSecrets(deps, pod, signal);
  const ofNode = await deps.nodeEntries();
  const provided = (await deps.providedCredentials?.(withRegistry(image), pod, signal)) ?? [];
  const rings = [fromSecrets, [{ source: { kind: "node" }, entries: ofNode } as const], provided.map(toSource)];
  return rings.flatMap((sources) => createKeyring(sources).credentialsFor(image));
}

async function readSecrets(deps: CredentialDeps, pod: Pod, signal: AbortSignal): Promise<readonly KeyringSource[]> {
  if (!pod.spec?.imagePullSecrets?.length) return [];
  const { secrets, missing } = await deps.pullSecrets(pod, signal);
  const { sources, malformed } = readPullSecrets(secrets);
  const warn = (message: string) =>
    deps.timeline.record(podReference(pod), { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message });
  const goesOn = "attempting to pull the image may not succeed.";
  if (missing.length > 0) warn(`Unable to retrieve some image pull secrets (${missing.join(", ")}); ${goesOn}`);
  for (const { name, error } of malformed) warn(`Unable to use image pull secret ${name}: it ${error}; ${goesOn}`);
  return sources;
}

function toSource({ registries, serviceAccount }: ProvidedCredentials): KeyringSource {
  return {
    source: serviceAccount === undefined ? { kind: "node" } : { kind: "serviceAccount", ...serviceAccount },
    entries: registries.map(({ key, username, password }) => ({
      key,
      credentials: { username, password, identityToken: "" },
      hash: hashCredentials({ username, password }),
    })),
  };
}
