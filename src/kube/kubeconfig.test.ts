import { describe, expect, it } from "vitest";

import { readKubeconfig } from "./kubeconfig.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const DATA = Buffer.from(PEM).toString("base64");

const read = async (text: string, path = "/etc/kube/config") =>
  await readKubeconfig(path, {
    async read(asked) {
      if (asked !== path) throw Object.assign(new Error(`ENOENT: ${asked}`), { code: "ENOENT" });
      return Buffer.from(text);
    },
  });

const withParts = ({ cluster = "server: https://api:6443", user = "token: t", context = "" }) => `
apiVersion: v1
kind: Config
current-context: there
contexts:
- name: elsewhere
  context: {cluster: other, user: other}
- name: there
  context: {cluster: c, user: u ${context}}
clusters:
- name: c
  cluster: {${cluster}}
users:
- name: u
  user: {${user}}
`;

describe("a kubeconfig", () => {
  it("with everything embedded is read", async () => {
    const text = withParts({
      cluster: `server: "https://10.0.0.1:6443", certificate-authority-data: ${DATA}`,
      user: `client-certificate-data: ${DATA}, client-key-data: ${DATA}`,
    });
    expect(await read(text)).toEqual({
      source: "/etc/kube/config",
      server: "https://10.0.0.1:6443",
      namespace: "",
      authority: { kind: "inline", pem: PEM },
      insecureSkipTlsVerify: false,
      tlsServerName: undefined,
      proxyUrl: undefined,
      user: {
        clientCertificate: { certificate: { kind: "inline", pem: PEM }, key: { kind: "inline", pem: PEM } },
        token: undefined,
        tokenFile: undefined,
        basic: undefined,
        exec: undefined,
      },
    });
  });

  it("gives what its current context names, with paths relative to the file", async () => {
    const text = withParts({
      cluster:
        "server: 'https://api:6443/k8s/', certificate-authority: ca.crt, tls-server-name: kubernetes, proxy-url: 'http://p:1'",
      user: "client-certificate: ../pki/current.pem, client-key: /var/key.pem, tokenFile: token",
      context: ", namespace: here",
    });
    expect(await read(text)).toMatchObject({
      server: "https://api:6443/k8s",
      namespace: "here",
      authority: { kind: "file", path: "/etc/kube/ca.crt" },
      tlsServerName: "kubernetes",
      proxyUrl: "http://p:1",
      user: {
        clientCertificate: {
          certificate: { kind: "file", path: "/etc/pki/current.pem" },
          key: { kind: "file", path: "/var/key.pem" },
        },
        tokenFile: "/etc/kube/token",
      },
    });
  });

  it.each([
    ["token: ' abc '", { token: "abc" }],
    ["username: me, password: secret", { basic: { username: "me", password: "secret" } }],
    ["", { token: undefined, basic: undefined, clientCertificate: undefined }],
  ])("takes a user with {%s}", async (user, expected) => {
    expect((await read(withParts({ user }))).user).toMatchObject(expected);
  });

  it.each([
    ["api:6443, insecure-skip-tls-verify: true", "https://api:6443"],
    [`10.0.0.1, certificate-authority-data: ${DATA}`, "https://10.0.0.1"],
    ["localhost:8080", "http://localhost:8080"],
    ["'https://[fd00::1]:6443/'", "https://[fd00::1]:6443"],
  ])("understands the server %s", async (server, expected) => {
    expect((await read(withParts({ cluster: `server: ${server}` }))).server).toBe(expected);
  });
});

describe("an exec plugin", () => {
  const V1 = "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never";

  it("is read with the cluster where it asks for it", async () => {
    const text = withParts({
      cluster:
        "server: 'https://api', extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: me}}]",
      user: `exec: {${V1}, command: bin/login, args: [a, b], env: [{name: NAME, value: v}], installHint: hint, provideClusterInfo: true}`,
    });
    expect((await read(text)).user.exec).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      command: "/etc/kube/bin/login",
      args: ["a", "b"],
      env: [{ name: "NAME", value: "v" }],
      installHint: "hint",
      clusterInfo: {
        server: "https://api",
        tlsServerName: undefined,
        insecureSkipTlsVerify: false,
        authority: undefined,
        proxyUrl: undefined,
        config: { audience: "me" },
      },
    });
  });

  it("is looked up in PATH, and needs no interactiveMode in v1beta1", async () => {
    const user = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}";
    expect((await read(withParts({ user }))).user.exec).toMatchObject({ command: "aws", clusterInfo: undefined });
  });

  it.each([
    ["{command: a}", "exec.apiVersion: exec plugin: invalid apiVersion"],
    [
      "{apiVersion: client.authentication.k8s.io/v1alpha1, command: a}",
      "exec.apiVersion: exec plugin: invalid apiVersion",
    ],
    [`{${V1}}`, "exec.command: missing"],
    [`{${V1}, command: a, env: [{value: v}]}`, "exec.env: env variable name must be specified"],
    [`{${V1}, command: a, args: [1]}`, "exec.args[0]: must be text"],
    ["{apiVersion: client.authentication.k8s.io/v1, command: a}", "exec.interactiveMode: must be specified"],
    [
      "{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always, command: a}",
      "exec.interactiveMode: exec plugin cannot support interactive mode",
    ],
  ])("%s is refused", async (exec, problem) => {
    await expect(read(withParts({ user: `exec: ${exec}` }))).rejects.toMatchObject({
      code: "kubeconfig-invalid",
      message: expect.stringContaining(`users[u].user.${problem}`),
    });
  });
});

describe("what cannot be used", () => {
  it.each([
    ["cluster: no server", withParts({ cluster: "" }), "clusters[c].cluster.server: missing"],
    ["cluster: no URL", withParts({ cluster: "server: 'ftp://a'" }), "clusters[c].cluster.server: host must be a URL"],
    [
      "cluster: a CA that is checked and not",
      withParts({ cluster: "server: a, certificate-authority: a, insecure-skip-tls-verify: true" }),
      "insecure-skip-tls-verify: specifying a root certificates file with the insecure flag is not allowed",
    ],
    [
      "cluster: two CAs",
      withParts({ cluster: `server: a, certificate-authority: a, certificate-authority-data: ${DATA}` }),
      "certificate-authority: certificate-authority-data and certificate-authority are both specified",
    ],
    [
      "cluster: no PEM",
      withParts({ cluster: "server: a, certificate-authority-data: AAAA" }),
      "clusters[c].cluster.certificate-authority-data: must be PEM in base64",
    ],
    [
      "cluster: a proxy of another kind",
      withParts({ cluster: "server: a, proxy-url: 'socks4://p:1'" }),
      "clusters[c].cluster.proxy-url: must be the URL of a proxy: http://, https:// or socks5://",
    ],
    ["user: half a pair", withParts({ user: "client-certificate: a" }), "users[u].user.client-key: missing"],
    [
      "user: two methods",
      withParts({ user: "token: canary, username: me" }),
      "users[u].user.username: more than one authentication method found",
    ],
    [
      "user: an auth provider",
      withParts({ user: "auth-provider: {name: gcp}" }),
      "users[u].user.auth-provider: auth providers are not supported",
    ],
    ["user: a token of two lines", withParts({ user: 'token: "canary\\nx"' }), "users[u].user.token: has characters"],
    ["user: a token that is a number", withParts({ user: "token: 123" }), "users[u].user.token: must be text"],
    ["no current context", "contexts: []", "current-context: missing"],
    ["another context", "current-context: x", "current-context: context was not found for specified context: x"],
    [
      "a cluster that is not there",
      "current-context: x\ncontexts: [{name: x, context: {cluster: none}}]",
      'contexts[x].context.cluster: names "none", which is not among the clusters',
    ],
    ["another kind", "kind: Pod", "kind: must be Config"],
    ["lists that are none", "current-context: x\ncontexts: {}", "contexts: must be a list"],
    ["no mapping", "[1]", "the file: must be a mapping"],
  ])("%s: says where and what", async (_, text, problem) => {
    const failure = await read(text).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "KubeconfigError", code: "kubeconfig-invalid" });
    expect(String(failure)).toContain(`kubeconfig /etc/kube/config: `);
    expect(String(failure)).toContain(problem);
    expect(String(failure)).not.toContain("canary");
  });

  it.each([
    ["a: [", "line 1"],
    ["", "the file is empty"],
    ["a: 1\n---\nb: 2", "more than one document"],
  ])("%j is unreadable", async (text, problem) => {
    await expect(read(text)).rejects.toMatchObject({
      code: "kubeconfig-unreadable",
      message: expect.stringContaining(problem),
    });
  });

  it("a file that is not there is unreadable", async () => {
    const files = { read: async () => await Promise.reject(new Error("ENOENT: no such file")) };
    await expect(readKubeconfig("/etc/kube/config", files)).rejects.toMatchObject({
      code: "kubeconfig-unreadable",
      message: "kubeconfig /etc/kube/config cannot be read: ENOENT: no such file",
    });
  });
});
