import { createHash } from "node:crypto";
import type { Pod, ServiceAccount } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { TokenAttributes } from "../../../config/credential-provider-config.ts";

/** Reads service accounts for plugins. A node without an API server has none. */
export interface ServiceAccountReader {
  read(name: { readonly namespace: string; readonly name: string }, signal: AbortSignal): Promise<ServiceAccount>;
  /** Requests a token of the account that is bound to the pod. */
  token(request: PodTokenRequest, signal: AbortSignal): Promise<string>;
}

export interface PodTokenRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** An account of the same name with another UID gets no token. */
  readonly serviceAccountUid: string;
  readonly audience: string;
  readonly pod: { readonly name: string; readonly uid: string };
}

/** A pod's service account, as it is described to a plugin. */
export interface ServiceAccountProof {
  readonly coordinates: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Pods with the same key may share cached credentials. */
  readonly cacheKey: string;
  /** Pods with the same key may share a run of the plugin. */
  readonly runKey: string;
}

/** `not-for-this-pod` means that the plugin must not be asked; undefined means that it is asked without an account. */
type ProofOutcome = ServiceAccountProof | "not-for-this-pod" | undefined;

/** Gathers what the plugin must know of the pod's account; rejects where that cannot be had. */
export async function proveServiceAccount(
  accounts: ServiceAccountReader | undefined,
  attributes: TokenAttributes,
  pod: Pod,
  signal: AbortSignal,
): Promise<ProofOutcome> {
  const { namespace, name: podName, uid: podUid } = podReference(pod);
  const name = pod.spec?.serviceAccountName ?? "";
  if (name === "") return attributes.requireServiceAccount === true ? "not-for-this-pod" : undefined;
  if (accounts === undefined) {
    throw new Error("failed to get service account: cannot get ServiceAccounts when kubelet is in standalone mode");
  }
  const account = await accounts.read({ namespace, name }, signal).catch(explain("failed to get service account"));
  const annotations = selectAnnotations(account, attributes);
  // Annotations may be how a workload asks to be served by the plugin, so missing ones are no failure.
  if (annotations === undefined) return "not-for-this-pod";
  const uid = account.metadata?.uid ?? "";
  const request = {
    namespace,
    serviceAccount: name,
    serviceAccountUid: uid,
    audience: attributes.serviceAccountTokenAudience,
    pod: { name: podName, uid: podUid },
  };
  const token = await accounts.token(request, signal).catch(explain("failed to get service account token"));
  const hash = createHash("sha256").update(token).digest("hex");
  const told = Object.entries(annotations).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    coordinates: { uid, namespace, name },
    token,
    annotations,
    cacheKey: JSON.stringify([namespace, name, uid, told, ...(attributes.cacheType === "Token" ? [hash] : [])]),
    runKey: JSON.stringify([hash, told]),
  };
}

/** Returns undefined where a required annotation is missing. */
function selectAnnotations(
  { metadata }: ServiceAccount,
  attributes: TokenAttributes,
): Readonly<Record<string, string>> | undefined {
  const all = new Map(Object.entries(metadata?.annotations ?? {}));
  const { requiredServiceAccountAnnotationKeys: required = [], optionalServiceAccountAnnotationKeys: optional = [] } =
    attributes;
  if (required.some((key) => !all.has(key))) return undefined;
  const wanted = [...required, ...optional];
  return Object.fromEntries([...all].filter(([key]) => wanted.includes(key)));
}

function explain(what: string): (error: unknown) => never {
  return (error) => {
    if (isAbort(error)) throw error;
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  };
}
