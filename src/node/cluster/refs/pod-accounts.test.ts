import { expect, it } from "vitest";
import { createPodAccounts } from "./pod-accounts.ts";
import type { ServiceAccountTokenRequest } from "./service-account-tokens.ts";

it("asks for a token of one audience and of the API server's usual life, bound to the pod", async () => {
  const asked: ServiceAccountTokenRequest[] = [];
  const get = async (request: ServiceAccountTokenRequest) => {
    asked.push(request);
    return { token: "t", expiresAt: 0, refreshAfterMs: 0 };
  };
  const client = { get: async () => await Promise.reject(new Error("not asked")) };
  const request = { namespace: "a", serviceAccount: "b", serviceAccountUid: "u", pod: { name: "p", uid: "1" } };
  const accounts = createPodAccounts(client, { get });
  expect(await accounts.token({ ...request, audience: "registry" }, new AbortController().signal)).toBe("t");
  expect(asked).toEqual([{ ...request, audiences: ["registry"], expirationSeconds: 3_600 }]);
});
