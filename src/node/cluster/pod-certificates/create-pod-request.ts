import type { Node, Pod, PodCertificateProjection, PodCertificateRequest } from "../../../api/gen/types.ts";
import { POD_CERTIFICATE_REQUESTS, SERVICE_ACCOUNTS } from "../../../api/kube-resource.ts";
import { podReference } from "../../../api/pods.ts";
import { SECOND } from "../../../base/clock.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { isStubKeyType, type StubKeyType, type StubRequest } from "../../../pki/stub-request.ts";

export interface CreateRequestDeps {
  readonly client: Pick<KubeClient, "create" | "get">;
  readonly nodeName: string;
  /** The node's own object; undefined before it is registered. */
  node(): Node | undefined;
  /** Makes a key; it may take seconds. */
  createKey(type: StubKeyType): Promise<StubRequest>;
}

/** A request that the API server has taken. */
interface CreatedRequest {
  readonly name: string;
  readonly keyPem: string;
}

const CALL_TIMEOUT_MS = 30 * SECOND;

/**
 * Asks the projection's signer for a certificate of a fresh key. The account is read each time, since the request names its
 * UID. Rejects with what the API server or the connection said, or with an Error that says what is missing.
 */
export async function createPodRequest(
  { client, nodeName, node, createKey }: CreateRequestDeps,
  { pod, projection }: { pod: Pod; projection: PodCertificateProjection },
  signal: AbortSignal,
): Promise<CreatedRequest> {
  const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
  const { namespace } = podReference(pod);
  const { keyType } = projection;
  const nodeUID = node()?.metadata?.uid;
  if (nodeUID === undefined) throw new Error("the node is not registered yet");
  if (!isStubKeyType(keyType)) throw new Error(`unknown key type ${JSON.stringify(keyType)}`);
  const account = await client.get(SERVICE_ACCOUNTS, { namespace, name: pod.spec?.serviceAccountName ?? "" }, call);
  const { request, keyPem } = await createKey(keyType);
  const object = requestFor(pod, projection, {
    nodeName,
    nodeUID,
    serviceAccountUID: account.metadata?.uid ?? "",
    stubPKCS10Request: request.toString("base64"),
  });
  const created = await client.create(POD_CERTIFICATE_REQUESTS, object, call);
  return { name: created.metadata?.name ?? "", keyPem };
}

function requestFor(
  pod: Pod,
  { signerName, maxExpirationSeconds, userAnnotations }: PodCertificateProjection,
  rest: Pick<PodCertificateRequest["spec"], "nodeName" | "nodeUID" | "serviceAccountUID" | "stubPKCS10Request">,
): PodCertificateRequest {
  const { namespace, name, uid } = podReference(pod);
  return {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "PodCertificateRequest",
    metadata: {
      namespace,
      generateName: "req-",
      // Upstream writes `core/v1`, which is no version of any group, so that the garbage collector finds no owner by it.
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    spec: {
      signerName,
      podName: name,
      podUID: uid,
      serviceAccountName: pod.spec?.serviceAccountName ?? "",
      ...rest,
      ...(maxExpirationSeconds !== undefined && { maxExpirationSeconds }),
      ...(userAnnotations !== undefined && { unverifiedUserAnnotations: userAnnotations }),
    },
  };
}
