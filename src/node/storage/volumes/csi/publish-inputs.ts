import type { CSIDriver, Pod, SecretReference } from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import { isAbort } from "../../../../base/abort.ts";
import { formatTime } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import { AwaitedError } from "./csi-failure.ts";
import type { CsiObjects } from "./csi-ports.ts";
import type { CsiVolume, SecretUse } from "./csi-volume.ts";
import { computePodAttributes } from "./driver-policy.ts";

type StringMap = Readonly<Record<string, string>>;

/** What a driver gets to publish a volume, beyond what the volume says. It is secret, and nobody else may be told it. */
export interface PublishInputs {
  readonly secrets: StringMap;
  readonly volumeContext: StringMap;
}

const TOKENS_KEY = "csi.storage.k8s.io/serviceAccount.tokens";
const DEFAULT_TOKEN_SECONDS = 3600;

/** Reads the secret that the volume names for this use; empty where it names none. */
export async function readSecret(
  objects: Pick<CsiObjects, "secret">,
  { secrets }: CsiVolume,
  use: SecretUse,
  signal: AbortSignal,
): Promise<StringMap> {
  const reference = secrets[use];
  if (reference === undefined) return {};
  return await readReference(objects, reference, { use, signal });
}

async function readReference(
  objects: Pick<CsiObjects, "secret">,
  { namespace = "", name = "" }: SecretReference,
  { use, signal }: { use: SecretUse; signal: AbortSignal },
): Promise<StringMap> {
  try {
    const { data = {} } = await objects.secret(namespace, name, signal);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  } catch (error) {
    if (error instanceof Error && isAbort(error)) throw error;
    throw new AwaitedError(`fetching ${use} ${namespace}/${name} failed: ${messageOf(error)}`, { cause: error });
  }
}

/** Gathers the inputs of NodePublishVolume that the driver's CSIDriver object asks for. */
export async function readPublishInputs(
  objects: Pick<CsiObjects, "secret" | "token">,
  { volume, pod, driver }: { volume: CsiVolume; pod: Pod; driver: CSIDriver | undefined },
  signal: AbortSignal,
): Promise<PublishInputs> {
  const secrets = await readSecret(objects, volume, "NodePublishSecretRef", signal);
  const podAttributes = driver?.spec.podInfoOnMount === true ? computePodAttributes(pod, volume) : {};
  const volumeContext = { ...volume.attributes, ...podAttributes };
  // Upstream passes tokens for file systems only, not for block devices.
  if (volume.kind === "block" || (driver?.spec.tokenRequests ?? []).length === 0) return { secrets, volumeContext };
  const tokens = { [TOKENS_KEY]: await readTokens(objects, driver, { pod, signal }) };
  // Many drivers log their volume context, but a careful driver does not log its secrets (KEP-5538).
  return driver?.spec.serviceAccountTokenInSecrets === true
    ? { secrets: { ...secrets, ...tokens }, volumeContext }
    : { secrets, volumeContext: { ...volumeContext, ...tokens } };
}

async function readTokens(
  objects: Pick<CsiObjects, "token">,
  driver: CSIDriver | undefined,
  { pod, signal }: { pod: Pod; signal: AbortSignal },
): Promise<string> {
  const { uid, name, namespace } = podReference(pod);
  const serviceAccount = pod.spec?.serviceAccountName ?? "";
  const byAudience = new Map<string, { token: string; expirationTimestamp: string }>();
  for (const { audience, expirationSeconds = DEFAULT_TOKEN_SECONDS } of driver?.spec.tokenRequests ?? []) {
    const audiences = audience === "" ? [] : [audience];
    const request = { namespace, serviceAccount, audiences, expirationSeconds, pod: { name, uid } };
    const { token, expiresAt } = await objects.token(request, signal);
    byAudience.set(audience, { token, expirationTimestamp: formatTime(expiresAt) });
  }
  // The keys are sorted as Go writes maps, because some drivers compare the text.
  return JSON.stringify(Object.fromEntries([...byAudience].sort(([a], [b]) => (a < b ? -1 : 1))));
}
