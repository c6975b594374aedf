import { createHash } from "node:crypto";
import type { Pod, ServiceAccount } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { TokenAttributes } from "../../../config/credential-provider-config.ts";

/** Service accounts, as plugins need them; a node without an API server has none. */
export interface ServiceAccountReader {
  read(name: { readonly namespace: string; readonly name: string }, signal: AbortSignal): Promise<ServiceAccount>;
  /** A token of the account, bound to the pod. */
  token(request: PodTokenRequest, signal: AbortSignal): Promise<string>;
}

export interface PodTokenRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Another account of that name gets no token. */
  readonly serviceAccountUid: string;
  readonly audience: string;
  readonly pod: { readonly name: string; readonly uid: string };
}

/** A pod's service account, as a plugin is told of it. */
export interface ServiceAccountProof {
  readonly coordinates: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Who shares it may share cached credentials. */
  readonly cacheKey: string;
  /** Who shares it may share a run of the plugin. */
  readonly runKey: string;
}

/** `not-for-this-pod`: the plugin is not to be asked; undefined: it is to be asked without an account. */
type ProofOutcome = ServiceAccountProof | "not-for-this-pod" | undefined;

/** Gathers what the plugin is to be told of the pod's account; rejects where that cannot be had. */
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
  // It may be how a workload asks to be served by the plugin, and so is no failure.
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

/** Undefined where one that is required is missing. */
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
