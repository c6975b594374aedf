import type { ServiceAccount } from "../../../api/gen/types.ts";
import { SERVICE_ACCOUNTS } from "../../../api/kube-resource.ts";
import type { KubeClient } from "../../../kube/port.ts";
import type { ServiceAccountTokenRequest, ServiceAccountTokens } from "./service-account-tokens.ts";

/** The service accounts of pods, for plugins that get credentials through them. */
export interface PodAccounts {
  read(name: { readonly namespace: string; readonly name: string }, signal: AbortSignal): Promise<ServiceAccount>;
  /** Returns a token of the account for one audience, bound to the pod. */
  token(request: PodAccountTokenRequest, signal: AbortSignal): Promise<string>;
}

interface PodAccountTokenRequest extends Omit<ServiceAccountTokenRequest, "audiences" | "expirationSeconds"> {
  readonly audience: string;
}

/** The lifetime that an API server gives a token where the request names none. */
const TOKEN_SECONDS = 3_600;

export function createPodAccounts(
  client: Pick<KubeClient, "get">,
  tokens: Pick<ServiceAccountTokens, "get">,
): PodAccounts {
  return {
    read: async (name, signal) => await client.get(SERVICE_ACCOUNTS, name, { signal }),
    async token({ audience, ...request }, signal) {
      const wanted = { ...request, audiences: [audience], expirationSeconds: TOKEN_SECONDS };
      return (await tokens.get(wanted, signal)).token;
    },
  };
}
