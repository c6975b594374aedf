import type { Pod, Secret } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { MINUTE } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Timeline } from "../../base/timeline.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import type { RegistryCredentials } from "./docker-config.ts";
import { createKeyring } from "./keyring.ts";

/** The secrets of `imagePullSecrets` that there are, and the names of those that could not be had. */
export interface PullSecrets {
  secrets: readonly Secret[];
  missing: readonly string[];
}

export interface ImagePullDeps {
  images: Pick<Cri["images"], "pullImage">;
  timeline: Timeline;
  /** Default: no secrets. */
  pullSecrets?: ((pod: Pod, signal: AbortSignal) => Promise<PullSecrets>) | undefined;
}

/** A pull has no natural end; this is the longest that one may take. */
const PULL_TIMEOUT_MS = 60 * MINUTE;
/** Shorter than this, a secret text could stand anywhere in a message by chance. */
const MIN_REDACTED_LENGTH = 4;

/**
 * Credentials for a pull, the most specific first; empty: without any. What is wrong with the pod's secrets is an event,
 * and the pull goes on with the others: the image may be open to all.
 */
export async function findCredentials(
  deps: ImagePullDeps,
  pod: Pod,
  image: string,
  signal: AbortSignal,
): Promise<readonly RegistryCredentials[]> {
  if (deps.pullSecrets === undefined || !pod.spec?.imagePullSecrets?.length) return [];
  const { secrets, missing } = await deps.pullSecrets(pod, signal);
  const keyring = createKeyring(secrets);
  const warn = (message: string) =>
    deps.timeline.record(podReference(pod), { type: "Warning", reason: "FailedToRetrieveImagePullSecret", message });
  const goesOn = "attempting to pull the image may not succeed.";
  if (missing.length > 0) warn(`Unable to retrieve some image pull secrets (${missing.join(", ")}); ${goesOn}`);
  for (const { name, error } of keyring.malformed)
    warn(`Unable to use image pull secret ${name}: it ${error}; ${goesOn}`);
  return keyring.credentialsFor(image);
}

/**
 * Pulls with each of the credentials in turn until one opens the repository, or without any where there are none;
 * resolves with the image's reference in the runtime. A message never holds a credential, even if the runtime's does.
 */
export async function pullImage(
  images: Pick<Cri["images"], "pullImage">,
  image: cri.ImageSpec,
  credentials: readonly RegistryCredentials[],
  signal: AbortSignal,
): Promise<string> {
  const options = { signal, timeoutMs: PULL_TIMEOUT_MS };
  const failures: string[] = [];
  for (const auth of credentials.length > 0 ? credentials : [undefined]) {
    try {
      const request = cri.PullImageRequest.fromPartial(auth === undefined ? { image } : { image, auth });
      return (await images.pullImage(request, options)).imageRef;
    } catch (error) {
      signal.throwIfAborted();
      failures.push(redact(messageOf(error), credentials));
    }
  }
  // The cause stays behind: whatever prints causes would print what was just taken out.
  throw new Error(joinMessages(failures));
}

function redact(message: string, credentials: readonly RegistryCredentials[]): string {
  const secrets = credentials.flatMap(({ username, password, identityToken }) => [
    password,
    identityToken,
    Buffer.from(`${username}:${password}`).toString("base64"),
  ]);
  const longestFirst = secrets
    .filter((text) => text.length >= MIN_REDACTED_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((text, secret) => text.replaceAll(secret, "[redacted]"), message);
}

/** As upstream prints several errors: `[first, second]`, each once. */
function joinMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}
