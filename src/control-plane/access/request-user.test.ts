import { expect, test } from "vitest";
import type { ServedPeer } from "../../host/http-server.ts";
import { createRequestUser } from "./request-user.ts";

const requestOf = (headers: Record<string, string>, peer?: ServedPeer) => ({
  peer,
  header: (name: string) => (headers[name] === undefined ? [] : [headers[name]]),
  headersBeginning: (prefix: string) =>
    Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (name.startsWith(prefix) ? [[name, [value]]] : [])),
    ),
});

const users = createRequestUser({
  authenticator: { authenticate: ({ authorization = "" }) => ({ username: authorization, groups: [] }) },
  authorizer: { authorize: ({ user }) => ({ allowed: user.username === "admin", reason: "" }) },
});

const userOf = (request: ReturnType<typeof requestOf>) => users.impersonate(users.authenticate(request), request);

test("a request is served as the user that it proves", () => {
  expect(userOf(requestOf({ authorization: "jane" }))).toEqual({ username: "jane", groups: [] });
});

test("a request is served as the user whom its user may impersonate", () => {
  const headers = { "impersonate-user": "joe" };
  expect(userOf(requestOf({ authorization: "admin", ...headers }))).toMatchObject({ username: "joe" });
  expect(() => userOf(requestOf({ authorization: "jane", ...headers }))).toThrow("cannot impersonate");
});

test.each([[], ["system:masters"]])(
  "the API server's own certificate is nobody's, of whichever group: %j",
  (...organizations) => {
    const certificate = { kind: "verified", organizations, fingerprint: "", notAfter: 0 } as const;
    const asItself = requestOf(
      { authorization: "admin" },
      { ...certificate, commonName: "kube-apiserver-kubelet-client" },
    );
    expect(() => userOf(asItself)).toThrow("Unauthorized");
    const asAnother = requestOf({ authorization: "admin" }, { ...certificate, commonName: "kubernetes-admin" });
    expect(userOf(asAnother).username).toBe("admin");
  },
);
