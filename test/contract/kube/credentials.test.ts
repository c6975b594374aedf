import { chmod, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PODS } from "../../../src/api/kube-resource.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import type { ExecPlugin, PemSource } from "../../../src/kube/connection.ts";
import { issueCertificate } from "../../../src/pki/issue-certificate.ts";
import { startWatch } from "./client-under-test.ts";
import { getNode, until, useSmallWorld } from "./small-client.ts";
import { answerJson, type Handler, NODE, type SmallServer, smallCertificates, startBody } from "./small-server.ts";

const world = useSmallWorld();
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-kube-"));
});
afterEach(async () => await rm(directory, { recursive: true }));

const file = (path: string): PemSource => ({ kind: "file", path });
const unauthorized = { kind: "Status", status: "Failure", reason: "Unauthorized", message: "Unauthorized", code: 401 };
const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", resourceVersion: "2" } };

async function issue(commonName: string) {
  const { authority } = await smallCertificates();
  const period = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  return await issueCertificate({ commonName, organizations: [], usages: ["client"], authority, ...period });
}

const serveAll: Handler = ({ url }, response) => {
  if (url.includes("watch=true")) startBody(response, `${JSON.stringify({ type: "ADDED", object: pod })}\n`);
  else answerJson(response, 200, NODE);
};

/** Lets in who shows the token, which may change. */
function guard(good: { token: string }): Handler {
  return ({ headers }, response) => {
    if (headers["authorization"] === `Bearer ${good.token}`) answerJson(response, 200, NODE);
    else answerJson(response, 401, unauthorized);
  };
}

const shownTo = ({ requests }: SmallServer) => requests.map(({ headers }) => headers["authorization"]);

describe("a client certificate in a file", () => {
  /** As a kubelet's: certificate and key in one file, which a link names. */
  async function write(commonName: string): Promise<string> {
    const { certificatePem, keyPem } = await issue(commonName);
    const target = join(directory, `${commonName}.pem`);
    await writeFile(target, `${certificatePem}${keyPem}`);
    const current = join(directory, "current.pem");
    await symlink(target, `${current}.new`);
    await rename(`${current}.new`, current);
    return current;
  }

  it.each(["h2", "http/1.1"] as const)("is shown anew soon after it was rotated, over %s", async (protocol) => {
    const server = await world.serve(serveAll, { protocol });
    const current = await write("first");
    const user = { clientCertificate: { certificate: file(current), key: file(current) } };
    const transport = { rotationCheckMs: 10, retireGraceMs: 50 };
    const client = await world.connect(server.url, { connection: { user }, transport });
    await getNode(client);
    const watching = startWatch(client, PODS, { resourceVersion: "1" });
    await watching.next();
    await write("second");
    await until(() => world.logged.some((line) => line.includes("certificates have changed")));
    await getNode(client);
    expect(server.requests.map(({ peer }) => peer)).toEqual(["first", "first", "second"]);
    // The watch ended in order: the watcher goes on from where it was.
    await watching.ended;
    await until(() => server.openConnections === 1);
  });

  it("that does not fit its key yet is not used, and the last pair is", async () => {
    const server = await world.serve(serveAll);
    const [certificate, key] = [join(directory, "tls.crt"), join(directory, "tls.key")];
    const [first, second] = [await issue("first"), await issue("second")];
    await writeFile(certificate, first.certificatePem);
    await writeFile(key, first.keyPem);
    const user = { clientCertificate: { certificate: file(certificate), key: file(key) } };
    const transport = { rotationCheckMs: 5, idleTimeoutMs: 1 };
    const client = await world.connect(server.url, { connection: { user }, transport });
    await getNode(client);
    await writeFile(certificate, second.certificatePem);
    await until(() => server.openConnections === 0);
    await getNode(client);
    await writeFile(key, second.keyPem);
    await until(() => server.openConnections === 0);
    await getNode(client);
    expect(server.requests.map(({ peer }) => peer)).toEqual(["first", "first", "second"]);
  });

  it("that is empty, as for a moment while it is written anew, is not used, and the last pair is", async () => {
    const server = await world.serve(serveAll);
    const [certificate, key] = [join(directory, "tls.crt"), join(directory, "tls.key")];
    const first = await issue("first");
    await writeFile(certificate, first.certificatePem);
    await writeFile(key, first.keyPem);
    const user = { clientCertificate: { certificate: file(certificate), key: file(key) } };
    const client = await world.connect(server.url, { connection: { user }, transport: { idleTimeoutMs: 1 } });
    await getNode(client);
    await writeFile(certificate, "");
    await until(() => server.openConnections === 0);
    await getNode(client);
    expect(server.requests.map(({ peer }) => peer)).toEqual(["first", "first"]);
  });

  it.each([
    ["", "is not in PEM: it is empty"],
    ["word", "is not in PEM"],
  ])("of an authority that says %j believes nobody, and not everybody", async (text, why) => {
    const server = await world.serve(serveAll);
    const path = join(directory, "ca.crt");
    await writeFile(path, text);
    const client = await world.connect(server.url, { connection: { authority: file(path) } });
    await expect(getNode(client)).rejects.toMatchObject({
      code: "credentials",
      message: expect.stringContaining(`certificate authority ${path} ${why}`),
    });
  });

  it("that is not there says so, and nothing is asked of the server", async () => {
    const server = await world.serve(serveAll);
    const missing = file(join(directory, "missing.pem"));
    const user = { clientCertificate: { certificate: missing, key: missing } };
    const client = await world.connect(server.url, { connection: { user } });
    await expect(getNode(client)).rejects.toMatchObject({
      name: "KubeUnreachableError",
      code: "credentials",
      message: expect.stringContaining(`client certificate ${directory}/missing.pem cannot be read: ENOENT`),
    });
    expect(server.requests).toEqual([]);
  });
});

describe("a token", () => {
  it("in a file is read again after a minute", async () => {
    const clock = createFakeClock();
    const good = { token: "one" };
    const server = await world.serve(serveAll);
    const tokenFile = join(directory, "token");
    await writeFile(tokenFile, `${good.token}\n`);
    const client = await world.connect(server.url, { clock, connection: { user: { tokenFile, token: "older" } } });
    await getNode(client);
    await writeFile(tokenFile, "two");
    await clock.advance(40_000);
    await getNode(client);
    await clock.advance(20_000);
    await getNode(client);
    await rm(tokenFile);
    await clock.advance(60_000);
    await getNode(client);
    expect(shownTo(server)).toEqual(["Bearer one", "Bearer one", "Bearer two", "Bearer two"]);
    expect(world.logged.join("\n")).toContain("Unable to rotate token");
  });

  it("in a file is read again when the server does not take it, which costs the call nothing", async () => {
    const good = { token: "one" };
    const server = await world.serve(guard(good));
    const tokenFile = join(directory, "token");
    await writeFile(tokenFile, "one");
    const client = await world.connect(server.url, { connection: { user: { tokenFile } } });
    await getNode(client);
    good.token = "two";
    await expect(getNode(client)).rejects.toMatchObject({ name: "ApiError", reason: "Unauthorized" });
    await writeFile(tokenFile, "two");
    expect(await getNode(client)).toEqual(NODE);
    expect(shownTo(server)).toEqual(["Bearer one", "Bearer one", "Bearer one", "Bearer two"]);
  });

  it("in a file that is not there: says so", async () => {
    const server = await world.serve(serveAll);
    const tokenFile = join(directory, "token");
    const client = await world.connect(server.url, { connection: { user: { tokenFile } } });
    await expect(getNode(client)).rejects.toMatchObject({
      code: "credentials",
      message: expect.stringMatching(/token file .*ENOENT/),
    });
  });

  it("CVE-2019-11250: or a password goes into the header, and into no message and no log", async () => {
    const server = await world.serve((_, response) => answerJson(response, 401, unauthorized));
    const users = [{ token: "canary-1" }, { basic: { username: "me", password: "canary-2" } }];
    const failures: unknown[] = [];
    for (const user of users) {
      const client = await world.connect(server.url, { connection: { user }, timeoutMs: 300 });
      failures.push(await getNode(client).catch((error: unknown) => error));
      const lost = await world.connect("https://127.0.0.1:1", { connection: { user }, timeoutMs: 300 });
      failures.push(await getNode(lost).catch((error: unknown) => error));
    }
    const basic = `Basic ${Buffer.from("me:canary-2").toString("base64")}`;
    expect(shownTo(server)).toEqual(["Bearer canary-1", basic]);
    const told = `${failures.map((error) => inspect(error)).join("\n")}\n${world.logged.join("\n")}`;
    expect(told).toContain("Unauthorized");
    expect(told).not.toMatch(/canary|bWU6Y2FuYXJ5LTI/);
  });
});

describe("an exec plugin", () => {
  /** A script whose n-th run prints what `print` gives for n; what it was told is kept in `info`. */
  async function write(print: string): Promise<string> {
    const path = join(directory, "plugin");
    const script = `#!/bin/sh
cd '${directory}'
printf x >> runs
printf '%s' "$KUBERNETES_EXEC_INFO" > info
n=$(wc -c < runs | tr -d ' ')
${print}
`;
    await writeFile(path, script);
    await chmod(path, 0o755);
    return path;
  }
  const plugin = (command: string, more: Partial<ExecPlugin> = {}): ExecPlugin => ({
    apiVersion: "client.authentication.k8s.io/v1",
    command,
    args: [],
    env: [],
    installHint: "",
    clusterInfo: undefined,
    ...more,
  });
  const credential = (status: string) =>
    `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":${status}}`;
  const printing = (status: string) => `cat <<END\n${credential(status)}\nEND`;
  const runs = async () => (await readFile(join(directory, "runs"), "utf8")).length;

  it("runs once for all who wait, and again when what it gave has expired", async () => {
    const clock = createFakeClock();
    const server = await world.serve(serveAll);
    const expires = new Date(clock.now() + 60_000).toISOString();
    const command = await write(printing(`{"token":"run-$n","expirationTimestamp":"${expires}"}`));
    const client = await world.connect(server.url, { clock, connection: { user: { exec: plugin(command) } } });
    await Promise.all([getNode(client), getNode(client), getNode(client)]);
    await clock.advance(59_999);
    await getNode(client);
    expect(await runs()).toBe(1);
    await clock.advance(1);
    await getNode(client);
    expect(new Set(shownTo(server).slice(0, 4))).toEqual(new Set(["Bearer run-1"]));
    expect(shownTo(server).at(-1)).toBe("Bearer run-2");
  });

  it("runs again when the server does not take its token, but not for every call", async () => {
    const clock = createFakeClock();
    const good = { token: "run-1" };
    const server = await world.serve(guard(good));
    const command = await write(printing('{"token":"run-$n"}'));
    const client = await world.connect(server.url, { clock, connection: { user: { exec: plugin(command) } } });
    await getNode(client);
    good.token = "run-2";
    await expect(getNode(client)).rejects.toMatchObject({ reason: "Unauthorized" });
    expect(await runs()).toBe(1);
    await clock.advance(10_000);
    expect(await getNode(client)).toEqual(NODE);
    expect(await runs()).toBe(2);
  });

  it("gives a certificate, and is told of the cluster where it wants to be", async () => {
    const server = await world.serve(serveAll);
    const { certificatePem, keyPem } = await issue("by-plugin");
    const { authority } = await smallCertificates();
    const status = { clientCertificateData: certificatePem, clientKeyData: keyPem };
    await writeFile(join(directory, "credential"), credential(JSON.stringify(status)));
    const exec = plugin(await write('cat credential; printf "$1-$MINE" > args'), {
      args: ["an arg; $(touch evil)"],
      env: [{ name: "MINE", value: "mine" }],
      clusterInfo: {
        server: server.url,
        tlsServerName: "kubernetes",
        insecureSkipTlsVerify: false,
        authority: { kind: "inline", pem: authority.certificatePem },
        proxyUrl: undefined,
        config: { audience: "me" },
      },
    });
    const client = await world.connect(server.url, { connection: { user: { exec } } });
    await getNode(client);
    expect(server.requests[0]).toMatchObject({ peer: "by-plugin" });
    expect(server.requests[0]?.headers["authorization"]).toBeUndefined();
    expect(JSON.parse(await readFile(join(directory, "info"), "utf8"))).toEqual({
      kind: "ExecCredential",
      apiVersion: "client.authentication.k8s.io/v1",
      spec: {
        interactive: false,
        cluster: {
          server: server.url,
          "tls-server-name": "kubernetes",
          "certificate-authority-data": Buffer.from(authority.certificatePem).toString("base64"),
          config: { audience: "me" },
        },
      },
    });
    expect(await readFile(join(directory, "args"), "utf8")).toBe("an arg; $(touch evil)-mine");
  });

  it.each([
    ["fails", "echo no login >&2; exit 3", /plugin failed with exit code 3: no login$/],
    ["prints no JSON", "echo canary", /decoding stdout/],
    ["prints too much", "cat /dev/zero", /printed more than 1048576 bytes/],
    [
      "prints another version",
      `echo '${credential("{}").replace("/v1", "/v1beta1")}'`,
      /plugin returned version client.auth.*v1beta1/,
    ],
    ["prints no status", `echo '${credential("null")}'`, /didn't return a status field/],
    ["prints an empty status", `echo '${credential("{}")}'`, /didn't return a token or cert\/key pair/],
    ["prints half a pair", `echo '${credential('{"clientKeyData":"canary"}')}'`, /only certificate or key, not both/],
    [
      "prints a token of two lines",
      `echo '${credential('{"token":"canary\\\\nx"}')}'`,
      /has characters that no token has/,
    ],
    ["prints no time", `echo '${credential('{"token":"canary","expirationTimestamp":"soon"}')}'`, /RFC 3339/],
  ])("that %s is an error of credentials, without what it printed", async (_, print, message) => {
    const server = await world.serve(serveAll);
    const exec = plugin(await write(print));
    const client = await world.connect(server.url, { connection: { user: { exec } } });
    const failure = await getNode(client).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "KubeUnreachableError",
      code: "credentials",
      message: expect.stringMatching(message),
    });
    expect(String(failure)).not.toContain("canary");
    expect(server.requests).toEqual([]);
  });

  it("that is not installed says how to install it", async () => {
    const exec = plugin("no-such-plugin", { installHint: "Install it with care." });
    const client = await world.connect("https://127.0.0.1:1", { connection: { user: { exec } } });
    await expect(getNode(client)).rejects.toMatchObject({
      code: "credentials",
      message: expect.stringMatching(/exec: executable no-such-plugin not found\n\nInstall it with care\.$/),
    });
  });

  it("that never ends costs a call its own time, and is killed with its children after a minute", async () => {
    const clock = createFakeClock();
    const exec = plugin(await write("sleep 1000 & echo $! > child; sleep 1000"));
    const client = await world.connect("https://127.0.0.1:1", { clock, connection: { user: { exec } } });
    const failureOf = async (timeoutMs: number) =>
      await getNode(client, { timeoutMs }).catch((error: unknown) => error);
    const [first, second] = [failureOf(500), failureOf(100_000)];
    const child = await untilRead(join(directory, "child"));
    await clock.advance(500);
    expect(await first).toMatchObject({ code: "timed-out" });
    await clock.advance(60_000);
    expect(await second).toMatchObject({
      code: "credentials",
      message: expect.stringMatching(/did not end within 60000 ms/),
    });
    await until(() => !isAlive(child));
  });

  it("that runs is killed when the client is closed", async () => {
    const exec = plugin(await write("echo $$ > child; sleep 1000"));
    const client = await world.connect("https://127.0.0.1:1", { connection: { user: { exec } } });
    const call = getNode(client);
    call.catch(() => undefined);
    const child = await untilRead(join(directory, "child"));
    await client.close();
    expect(isAlive(child)).toBe(false);
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });
});

async function untilRead(path: string): Promise<number> {
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.endsWith("\n")) return Number(text);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
