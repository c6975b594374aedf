import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TokenRequest } from "../../api/gen/types.ts";
import { createFakeCluster } from "./__fixtures__/fake-cluster.ts";
import { tokenKey } from "./__fixtures__/token-keys.ts";
import { createTokenIssuer, type TokenPlan } from "./service-account-tokens.ts";
import { answerTokenRequest, planTokenRequest } from "./token-request.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const START = Date.parse("2026-03-01T12:00:00.500Z");
const KEY = tokenKey();

function issuerWith(key = KEY) {
  return createTokenIssuer({
    ...key,
    issuer: ISSUER,
    audiences: [ISSUER, "api"],
    now: () => START,
    randomId: () => "id-1",
  });
}

const PLAN: TokenPlan = {
  serviceAccount: { namespace: "ci", name: "builder", uid: "sa-1" },
  audiences: [],
  expirationSeconds: 3_600,
};
const POD = { kind: "Pod", name: "pod", uid: "pod-1" } as const;

describe("an issued token", () => {
  const seconds = Math.floor(START / 1000);

  it("says what upstream's says", () => {
    const tokens = issuerWith();
    const { token, expirationTimestamp } = tokens.issue({ ...PLAN, bound: POD, node: { name: "node", uid: "node-1" } });
    expect(expirationTimestamp).toBe("2026-03-01T13:00:00Z");
    expect(tokens.verify(token)).toEqual({
      aud: [ISSUER, "api"],
      exp: seconds + 3_600,
      iat: seconds,
      iss: ISSUER,
      jti: "id-1",
      "kubernetes.io": {
        namespace: "ci",
        node: { name: "node", uid: "node-1" },
        pod: { name: "pod", uid: "pod-1" },
        serviceaccount: { name: "builder", uid: "sa-1" },
      },
      nbf: seconds,
      sub: "system:serviceaccount:ci:builder",
    });
  });

  it.each<[string, Partial<TokenPlan>, number]>([
    [
      "of a pod with the life that admission asks for holds a year",
      { bound: POD, expirationSeconds: 3_607 },
      31_536_000,
    ],
    ["of a pod with another life does not", { bound: POD, expirationSeconds: 3_606 }, 3_606],
    ["of nothing does not", { expirationSeconds: 3_607 }, 3_607],
    ["for others does not", { bound: POD, expirationSeconds: 3_607, audiences: ["vault"] }, 3_607],
  ])("%s", (_what, change, life) => {
    const tokens = issuerWith();
    const { token, expirationTimestamp } = tokens.issue({ ...PLAN, ...change });
    const claims = tokens.verify(token);
    expect(claims).toMatchObject({ exp: seconds + life });
    const stale = life === 31_536_000 ? { warnafter: seconds + 3_607 } : {};
    expect(claims?.["kubernetes.io"]).toEqual(expect.objectContaining(stale));
    expect(expirationTimestamp).toBe(`2026-03-01T13:00:0${(change.expirationSeconds ?? 0) - 3_600}Z`);
  });

  it.each(["ec", "rsa"] as const)("can be checked by anybody with the published key (%s)", (type) => {
    const tokens = issuerWith(tokenKey(type));
    const { token } = tokens.issue(PLAN);
    const [jwk]: Record<string, unknown>[] = JSON.parse(JSON.stringify(tokens.jwks()["keys"]));
    const [header = "", claims = "", signature = ""] = token.split(".");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: jwk?.["alg"], kid: jwk?.["kid"] });
    const key = { key: createPublicKey({ key: jwk ?? {}, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
    expect(verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"))).toBe(true);
    expect(tokens.openIdConfiguration()).toEqual({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [type === "ec" ? "ES256" : "RS256"],
    });
    expect(Object.keys(jwk ?? {})).not.toContain("d");
  });
});

describe("a token request", () => {
  const account = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "builder", namespace: "ci", uid: "sa-1" },
  };
  const cluster = createFakeCluster();
  const pod = (name: string, serviceAccountName: string, nodeName?: string) =>
    cluster.put("pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "ci", uid: `${name}-1` },
      spec: { serviceAccountName, nodeName },
    });
  pod("pod", "builder", "node");
  pod("lost", "builder", "gone");
  pod("pending", "builder");
  pod("other", "default");
  cluster.put("nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node", uid: "node-1" } });
  cluster.put("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "ci", uid: "s-1" } });

  const plan = (spec: TokenRequest["spec"], metadata: TokenRequest["metadata"] = {}) => {
    return planTokenRequest({ metadata, ...(spec && { spec }) }, account, cluster.reader);
  };
  const bind = (kind: string, name: string, more = {}) => ({
    boundObjectRef: { apiVersion: "v1", kind, name, ...more },
  });

  it.each<[string, TokenRequest["spec"], Partial<TokenPlan>]>([
    ["nothing in particular", undefined, {}],
    [
      "audiences and a life",
      { audiences: ["a"], expirationSeconds: 600 },
      { audiences: ["a"], expirationSeconds: 600 },
    ],
    ["the longest life", { expirationSeconds: 2 ** 32 }, { expirationSeconds: 2 ** 32 }],
    ["a pod", bind("Pod", "pod"), { bound: POD, node: { name: "node", uid: "node-1" } }],
    ["a pod by its UID", bind("Pod", "pod", { uid: "pod-1" }), { bound: POD, node: { name: "node", uid: "node-1" } }],
    ["a pod on no node yet", bind("Pod", "pending"), { bound: { kind: "Pod", name: "pending", uid: "pending-1" } }],
    [
      "a pod on an unregistered node",
      bind("Pod", "lost"),
      { bound: { kind: "Pod", name: "lost", uid: "lost-1" }, node: { name: "gone", uid: "" } },
    ],
    ["a secret", bind("Secret", "s"), { bound: { kind: "Secret", name: "s", uid: "s-1" } }],
    ["a node", bind("Node", "node"), { bound: { kind: "Node", name: "node", uid: "node-1" } }],
  ])("for %s", (_what, spec, expected) => {
    expect(plan(spec)).toEqual({ ...PLAN, ...expected });
  });

  it.each<[string, TokenRequest["spec"], TokenRequest["metadata"], string, string]>([
    [
      "for too short a life",
      { expirationSeconds: 599 },
      {},
      "Invalid",
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      "for too long a life",
      { expirationSeconds: 2 ** 32 + 1 },
      {},
      "Invalid",
      "may not specify a duration larger than 2^32 seconds",
    ],
    [
      "for another account",
      undefined,
      { name: "x" },
      "Invalid",
      'metadata.name: Invalid value: "x": must match the service account name if specified',
    ],
    ["for a pod that is not there", bind("Pod", "x"), {}, "NotFound", 'pods "x" not found'],
    [
      "for a pod of another account",
      bind("Pod", "other"),
      {},
      "BadRequest",
      'cannot bind token for serviceaccount "builder" to pod running with serviceaccount "default"',
    ],
    [
      "for a pod that was made anew",
      bind("Pod", "pod", { uid: "pod-0" }),
      {},
      "Conflict",
      "the UID in the bound object reference (pod-0) does not match the UID in record",
    ],
    [
      "for another kind",
      bind("ConfigMap", "x"),
      {},
      "BadRequest",
      "cannot bind token to object of type /v1, Kind=ConfigMap",
    ],
    [
      "for a pod of another group",
      bind("Pod", "pod", { apiVersion: "apps/v1" }),
      {},
      "BadRequest",
      "cannot bind token to object of type apps/v1, Kind=Pod",
    ],
  ])("is refused %s", (_what, spec, metadata, reason, message) => {
    expect(() => plan(spec, metadata)).toThrow(
      expect.objectContaining({ reason, message: expect.stringContaining(message) }),
    );
  });

  it("is answered with what it became", () => {
    const status = { token: "t", expirationTimestamp: "2026-03-01T13:00:00Z", audiences: ["api"] };
    expect(answerTokenRequest({ kind: "TokenRequest", spec: {} }, PLAN, status)).toEqual({
      kind: "TokenRequest",
      metadata: { name: "builder", namespace: "ci" },
      spec: { audiences: ["api"], expirationSeconds: 3_600 },
      status: { token: "t", expirationTimestamp: "2026-03-01T13:00:00Z" },
    });
  });
});
