import { MINUTE } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { type Cri, type CriError, isCriError } from "../../../cri/port.ts";
import type { PullFailureReason } from "./image-outcome.ts";
import type { PullCredentials } from "./pull-credentials.ts";

/** An image that was pulled. */
export interface PulledImage {
  /** The image's reference in the runtime. */
  readonly imageRef: string;
  /** The credentials that opened the repository; undefined: it needs none. */
  readonly used: PullCredentials | undefined;
}

/** A pull that failed; its message holds no credential. */
export class ImagePullError extends Error {
  override readonly name = "ImagePullError";
  /** The runtime gave no answer: the image may be there now, or soon. */
  readonly isUncertain: boolean;
  /** What the runtime said it was, where it can tell. */
  readonly told: ToldReason | undefined;

  constructor(message: string, { isUncertain, told }: { isUncertain: boolean; told: ToldReason | undefined }) {
    // There is no cause, because its message may contain the credentials that this message leaves out.
    super(message);
    this.isUncertain = isUncertain;
    this.told = told;
  }
}

/** The runtime's reason. `detail` is the rest of its message, with the separator. */
interface ToldReason {
  readonly reason: Exclude<PullFailureReason, "ErrImagePull">;
  readonly detail: string;
}

/** A pull has no natural end; this is the longest that one may take. */
const PULL_TIMEOUT_MS = 60 * MINUTE;
/** Shorter than this, a secret text could stand anywhere in a message by chance. */
const MIN_REDACTED_LENGTH = 4;

/**
 * Pulls with each of the credentials in turn until one opens the repository, or without any where there are none. Rejects
 * with ImagePullError, or as the signal says. A message never holds a credential, even if the runtime's does.
 */
export async function pullImage(
  images: Pick<Cri["images"], "pullImage">,
  image: cri.ImageSpec,
  credentials: readonly PullCredentials[],
  signal: AbortSignal,
): Promise<PulledImage> {
  const options = { signal, timeoutMs: PULL_TIMEOUT_MS };
  const failures: string[] = [];
  const told: Array<ToldReason | undefined> = [];
  let isUncertain = false;
  // Equal credentials are tried once.
  const distinct = credentials.filter(({ hash }, index) => credentials.findIndex((one) => one.hash === hash) === index);
  for (const used of distinct.length > 0 ? distinct : [undefined]) {
    try {
      const auth = used?.credentials;
      const request = cri.PullImageRequest.fromPartial(auth === undefined ? { image } : { image, auth });
      return { imageRef: (await images.pullImage(request, options)).imageRef, used };
    } catch (error) {
      signal.throwIfAborted();
      isUncertain ||= isCriError(error, "deadline-exceeded", "unavailable", "cancelled");
      failures.push(redact(messageOf(error), credentials));
      told.push(isCriError(error) ? readReason(error, credentials) : undefined);
    }
  }
  // The runtime's reason counts only where all attempts failed alike.
  const [only] = new Set(failures).size === 1 ? told : [];
  throw new ImagePullError(joinMessages(failures), { isUncertain, told: only });
}

function readReason({ reason, detail }: CriError, credentials: readonly PullCredentials[]): ToldReason | undefined {
  if (reason !== "RegistryUnavailable" && reason !== "SignatureValidationFailed") return undefined;
  return { reason, detail: redact(detail.slice(reason.length), credentials) };
}

function redact(message: string, credentials: readonly PullCredentials[]): string {
  const secrets = credentials.flatMap(({ credentials: { username, password, identityToken } }) => [
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
