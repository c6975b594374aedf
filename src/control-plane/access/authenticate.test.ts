import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createMetrics, type Metrics } from "../../base/metrics.ts";
import type { ServedPeer } from "../../host/http-server.ts";
import type { User } from "../ports/user.ts";
import { createFakeCluster, type FakeCluster } from "./__fixtures__/fake-cluster.ts";
import { tokenKey } from "./__fixtures__/token-keys.ts";
import { ANONYMOUS, type Authenticator, createApiAuthenticator } from "./authenticate.ts";
import { readSigningKey, signClaims } from "./json-web-token.ts";
import { createTokenIssuer, type TokenIssuer, type TokenPlan } from "./service-account-tokens.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const START = Date.parse("2026-03-01T12:00:00Z");
const KEY = tokenKey();
const OTHER_KEY = tokenKey();

let cluster: FakeCluster;
let now: number;
let tokens: TokenIssuer;
let authenticator: Authenticator;
let metrics: Metrics;

const jane: ServedPeer = {
  kind: "verified",
  commonName: "jane",
  organizations: ["dev"],
  fingerprint: "0a",
  notAfter: START + 3_600_000,
};
const JANE: User = {
  username: "jane",
  groups: ["dev", "system:authenticated"],
  extra: { "authentication.kubernetes.io/credential-id": ["X509SHA256=0a"] },
};
const STRANGER: ServedPeer = { kind: "unverified", reason: "SELF_SIGNED_CERT_IN_CHAIN" };

beforeEach(() => {
  now = START;
  cluster = createFakeCluster();
  metrics = createMetrics();
  tokens = createTokenIssuer({ ...KEY, issuer: ISSUER, audiences: [ISSUER], now: () => now, randomId: () => "id-1" });
  authenticator = createAuthenticator(tokens, metrics);
  put("serviceaccounts", "ServiceAccount", { name: "builder", namespace: "ci", uid: "sa-1" });
  put("pods", "Pod", { name: "pod", namespace: "ci", uid: "pod-1" });
  put("nodes", "Node", { name: "node", uid: "node-1" });
  put("secrets", "Secret", { name: "secret", namespace: "ci", uid: "secret-1" });
});

const createAuthenticator = (issuer: TokenIssuer, counted: Metrics = createMetrics()) =>
  createApiAuthenticator({
    ...{ reader: cluster.reader, tokens: issuer, now: () => now, metrics: counted, log: silentLog },
  });

function put(resource: string, kind: string, metadata: Record<string, unknown>, rest: Record<string, unknown> = {}) {
  cluster.put(resource, { apiVersion: "v1", kind, metadata, ...rest });
}

const login = (token: string) => authenticator.authenticate({ authorization: `Bearer ${token}` });
const refuse = (token: string) =>
  expect(() => login(token)).toThrow(expect.objectContaining({ reason: "Unauthorized", code: 401 }));
const problemOf = (token: string, audiences?: string[]) => {
  const found = authenticator.authenticateToken(token, audiences);
  return found.kind === "refused" ? found.problem : found.kind;
};

const PLAN: TokenPlan = {
  serviceAccount: { namespace: "ci", name: "builder", uid: "sa-1" },
  audiences: [],
  expirationSeconds: 3_600,
};
const POD = { kind: "Pod", name: "pod", uid: "pod-1" } as const;

describe("credentials", () => {
  it.each<[string, Parameters<Authenticator["authenticate"]>[0], unknown]>([
    ["none at all", {}, ANONYMOUS],
    ["another scheme", { authorization: "Basic YTpi" }, ANONYMOUS],
    ["no token after the scheme", { authorization: "Bearer " }, ANONYMOUS],
    ["a client certificate", { peer: jane }, JANE],
    ["a certificate before a bad token", { peer: jane, authorization: "Bearer x" }, JANE],
    ["a certificate of nobody", { peer: { ...jane, commonName: "" } }, ANONYMOUS],
  ])("%s", (_what, credentials, user) => {
    expect(authenticator.authenticate(credentials)).toEqual(user);
  });

  it.each<[string, ServedPeer]>([
    ["of an authority that is not ours", STRANGER],
    ["that ended meanwhile", { ...jane, notAfter: START }],
  ])("a certificate %s is refused, and leaves a token to decide", (_what, peer) => {
    const unauthorized = expect.objectContaining({ reason: "Unauthorized", code: 401 });
    expect(() => authenticator.authenticate({ peer })).toThrow(unauthorized);
    expect(() => authenticator.authenticate({ peer, authorization: "Bearer x" })).toThrow(unauthorized);
    const { token } = tokens.issue(PLAN);
    expect(authenticator.authenticate({ peer, authorization: `Bearer ${token}` }).uid).toBe("sa-1");
  });

  it("a certificate is judged at each request, and its remaining life is counted", async () => {
    expect(authenticator.authenticate({ peer: jane })).toEqual(JANE);
    now += 3_600_000;
    expect(() => authenticator.authenticate({ peer: jane })).toThrow("Unauthorized");
    const page = await metrics.render();
    expect(page).toContain('apiserver_client_certificate_expiration_seconds_bucket{le="0"} 1');
    expect(page).toContain('apiserver_client_certificate_expiration_seconds_bucket{le="3600"} 2');
  });

  it("the scheme of a token may be in any case", () => {
    const { token } = tokens.issue(PLAN);
    expect(authenticator.authenticate({ authorization: `bEARER ${token}` }).uid).toBe("sa-1");
  });

  it("a token that is nobody's is refused as upstream refuses it", () => {
    expect(() => login("nonsense")).toThrow("Unauthorized");
    refuse("nonsense");
  });
});

describe("a service account's token", () => {
  it("makes its user, with what it is bound to", () => {
    const { token } = tokens.issue({ ...PLAN, bound: POD, node: { name: "node", uid: "node-1" } });
    expect(login(token)).toEqual({
      username: "system:serviceaccount:ci:builder",
      uid: "sa-1",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"],
      extra: {
        "authentication.kubernetes.io/credential-id": ["JTI=id-1"],
        "authentication.kubernetes.io/node-name": ["node"],
        "authentication.kubernetes.io/node-uid": ["node-1"],
        "authentication.kubernetes.io/pod-name": ["pod"],
        "authentication.kubernetes.io/pod-uid": ["pod-1"],
      },
    });
  });

  it("with an RSA key as well", () => {
    const rsa = createTokenIssuer({
      ...tokenKey("rsa"),
      issuer: ISSUER,
      audiences: [ISSUER],
      now: () => now,
      randomId: () => "",
    });
    const other = createAuthenticator(rsa);
    const { token } = rsa.issue(PLAN);
    expect(other.authenticate({ authorization: `Bearer ${token}` }).uid).toBe("sa-1");
    refuse(token);
  });

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claimsIn = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  it.each<[string, (token: string) => string]>([
    [
      "its claims exchanged",
      (token) => {
        const [header, , signature] = token.split(".");
        return `${header}.${encode({ ...claimsIn(token), sub: "system:serviceaccount:kube-system:x" })}.${signature}`;
      },
    ],
    ["no algorithm", (token) => `${encode({ alg: "none" })}.${token.split(".")[1]}.`],
    ["no algorithm, but the signature", (token) => `${encode({ alg: "none" })}.${token.split(".").slice(1).join(".")}`],
    ["its signature gone", (token) => token.replace(/[^.]*$/, "")],
    [
      "the public key taken for a shared secret",
      (token) => {
        const signed = `${encode({ alg: "HS256", kid: KEY.keyId })}.${token.split(".")[1]}`;
        return `${signed}.${createHmac("sha256", KEY.publicPem).update(signed).digest("base64url")}`;
      },
    ],
    ["another key", (token) => signClaims(readSigningKey(OTHER_KEY), claimsIn(token))],
    ["another issuer", (token) => signClaims(readSigningKey(KEY), { ...claimsIn(token), iss: "https://elsewhere" })],
    ["no expiry", (token) => signClaims(readSigningKey(KEY), { ...claimsIn(token), exp: undefined })],
    [
      "no account",
      (token) => signClaims(readSigningKey(KEY), { ...claimsIn(token), "kubernetes.io": { namespace: "ci" } }),
    ],
    ["a fourth part", (token) => `${token}.x`],
  ])("is refused with %s", (_what, tamper) => {
    const { token } = tokens.issue(PLAN);
    expect(login(token).uid).toBe("sa-1");
    refuse(tamper(token));
  });

  it.each<[string, (token: string) => void, string]>([
    ["it has expired", () => (now = START + 3_661_000), "service account token has expired"],
    ["it is of the future", () => (now = START - 61_000), "service account token is not valid yet"],
    [
      "the account is gone",
      () => cluster.remove("serviceaccounts", "builder", "ci"),
      'serviceaccounts "builder" not found',
    ],
    [
      "the account was made anew",
      () => put("serviceaccounts", "ServiceAccount", { name: "builder", namespace: "ci", uid: "sa-2" }),
      "service account UID (sa-2) does not match claim (sa-1)",
    ],
    [
      "the account was deleted a while ago",
      () =>
        put("serviceaccounts", "ServiceAccount", {
          name: "builder",
          namespace: "ci",
          uid: "sa-1",
          deletionTimestamp: "2026-03-01T11:58:00Z",
        }),
      "service account ci/builder has been deleted",
    ],
    ["the pod is gone", () => cluster.remove("pods", "pod", "ci"), "service account token has been invalidated"],
    [
      "the pod was made anew",
      () => put("pods", "Pod", { name: "pod", namespace: "ci", uid: "pod-2" }),
      "pod UID (pod-2) does not match service account pod ref claim (pod-1)",
    ],
    [
      "the pod should have been gone a minute ago",
      () =>
        put("pods", "Pod", { name: "pod", namespace: "ci", uid: "pod-1", deletionTimestamp: "2026-03-01T11:58:59Z" }),
      "service account token has been invalidated",
    ],
  ])("is refused when %s, also if it was used before", (_what, change, problem) => {
    const { token } = tokens.issue({ ...PLAN, bound: POD });
    expect(login(token).uid).toBe("sa-1");
    change(token);
    expect(problemOf(token)).toBe(problem);
    refuse(token);
  });

  it("holds while its pod shuts down", () => {
    const { token } = tokens.issue({ ...PLAN, bound: POD });
    put("pods", "Pod", { name: "pod", namespace: "ci", uid: "pod-1", deletionTimestamp: "2026-03-01T12:00:30Z" });
    expect(login(token).uid).toBe("sa-1");
  });

  it("outlives the node of its pod, but not the node that it is bound to", () => {
    const ofPod = tokens.issue({ ...PLAN, bound: POD, node: { name: "node", uid: "node-1" } }).token;
    const ofNode = tokens.issue({ ...PLAN, bound: { kind: "Node", name: "node", uid: "node-1" } }).token;
    const ofSecret = tokens.issue({ ...PLAN, bound: { kind: "Secret", name: "secret", uid: "secret-1" } }).token;
    cluster.remove("nodes", "node");
    cluster.remove("secrets", "secret", "ci");
    expect(login(ofPod).uid).toBe("sa-1");
    refuse(ofNode);
    refuse(ofSecret);
  });

  it("is for its audiences only", () => {
    const { token } = tokens.issue({ ...PLAN, audiences: ["vault", "other"] });
    expect(problemOf(token)).toBe(`token audiences [vault other] is invalid for the target audiences [${ISSUER}]`);
    expect(authenticator.authenticateToken(token, ["x", "vault"])).toMatchObject({
      kind: "user",
      audiences: ["vault"],
    });
    refuse(token);
  });
});

describe("a service account's token in a secret", () => {
  const ACCOUNT = PLAN.serviceAccount;
  const holds = (token: string, labels: Record<string, string> = {}) =>
    put(
      "secrets",
      "Secret",
      { name: "legacy", namespace: "ci", uid: "s", labels },
      { type: "kubernetes.io/service-account-token", data: { token: Buffer.from(token).toString("base64") } },
    );

  it("holds as long as the secret has it", () => {
    const token = tokens.issueLegacy(ACCOUNT, "legacy");
    refuse(token);
    holds(token);
    now += 10 * 365 * 86_400_000;
    expect(login(token)).toEqual({
      username: "system:serviceaccount:ci:builder",
      uid: "sa-1",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"],
    });
    holds(`${token}x`);
    refuse(token);
    holds(token, { "kubernetes.io/legacy-token-invalid-since": "2026-01-01" });
    expect(problemOf(token)).toContain("has been marked invalid");
  });

  it("is not for other audiences", () => {
    const token = tokens.issueLegacy(ACCOUNT, "legacy");
    holds(token);
    expect(problemOf(token, ["vault"])).toContain("is invalid for the target audiences [vault]");
  });
});

describe("a bootstrap token", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const GOOD = {
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    expiration: "2026-03-02T00:00:00Z",
  };
  const putToken = (
    fields: Record<string, string | undefined>,
    type = "bootstrap.kubernetes.io/token",
    metadata = {},
  ) => {
    const given = Object.entries({ ...GOOD, ...fields }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, base64(value)] as const],
    );
    const name = { name: "bootstrap-token-abcdef", namespace: "kube-system", ...metadata };
    put("secrets", "Secret", name, { type, data: Object.fromEntries(given) });
  };
  const TOKEN = "abcdef.0123456789abcdef";

  it.each<[string, Record<string, string | undefined>, string[]]>([
    ["with its groups", {}, ["system:bootstrappers:kubeadm:default-node-token"]],
    ["without groups or an end", { "auth-extra-groups": undefined, expiration: undefined }, []],
  ])("makes a bootstrapper %s", (_what, fields, groups) => {
    putToken(fields);
    expect(login(TOKEN)).toEqual({
      username: "system:bootstrap:abcdef",
      groups: ["system:bootstrappers", ...groups, "system:authenticated"],
    });
  });

  interface BadToken {
    fields?: Record<string, string | undefined>;
    type?: string;
    metadata?: Record<string, string>;
  }
  it.each<[string, BadToken]>([
    ["of another secret", { fields: { "token-secret": "fedcba9876543210" } }],
    ["without a secret", { fields: { "token-secret": undefined } }],
    ["of another id", { fields: { "token-id": "fedcba" } }],
    ["that has expired", { fields: { expiration: "2026-03-01T12:00:00Z" } }],
    ["whose expiration cannot be read", { fields: { expiration: "soon" } }],
    ["that is not for authentication", { fields: { "usage-bootstrap-authentication": "false" } }],
    ["that would give another group", { fields: { "auth-extra-groups": "system:bootstrappers:a,system:masters" } }],
    ["of another type", { type: "Opaque" }],
    ["that is being deleted", { metadata: { deletionTimestamp: "2026-03-01T12:00:00Z" } }],
  ])("%s is refused", (_what, { fields = {}, type, metadata }) => {
    putToken(fields, type, metadata);
    refuse(TOKEN);
  });

  it("is for the API server alone", () => {
    putToken({});
    expect(problemOf(TOKEN, ["vault"])).toBe("none");
  });
});
