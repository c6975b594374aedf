import { isRecord } from "../../api/object.ts";
import { type Clock, parseTime } from "../../base/clock.ts";
import type { ExecPlugin } from "../connection.ts";
import { KubeUnreachableError } from "../port.ts";
import type { PluginOutcome, PluginRun } from "./plugin-programs.ts";

/** The credentials that a plugin gave. */
interface ExecCredentials {
  readonly token: string | undefined;
  readonly certificatePem: string | undefined;
  readonly keyPem: string | undefined;
  /** Milliseconds since the epoch; undefined: they are used until a server refuses them. */
  readonly expiresAt: number | undefined;
}

/** The credentials of an exec plugin, which runs when there are none, when they expire and when a server refuses them. */
export interface ExecSource {
  current(): Promise<ExecCredentials>;
  /** Runs the plugin although its credentials have not expired, at most every ten seconds. */
  renew(): Promise<ExecCredentials>;
}

interface ExecDeps {
  readonly clock: Clock;
  run(program: Omit<PluginRun, "timeoutMs">): Promise<PluginOutcome>;
  /** The cluster's authority in PEM, for a plugin that asks to be told of the cluster. */
  readAuthority(): Promise<string | undefined>;
}

/** A server that refuses everything must not make a plugin run for every call. */
const MIN_RENEWAL_MS = 10_000;

/** One run at a time: callers that come meanwhile wait for it. */
export function createExecSource(deps: ExecDeps, plugin: ExecPlugin): ExecSource {
  let cached: { credentials: ExecCredentials; at: number } | undefined;
  let running: Promise<ExecCredentials> | undefined;
  const isExpired = ({ expiresAt }: ExecCredentials) => expiresAt !== undefined && deps.clock.now() >= expiresAt;
  const obtain = async () => {
    const credentials = await runOnce(deps, plugin);
    cached = { credentials, at: deps.clock.monotonic() };
    return credentials;
  };
  const run = async () => {
    running ??= obtain().finally(() => {
      running = undefined;
    });
    return await running;
  };
  return {
    async current() {
      return cached !== undefined && !isExpired(cached.credentials) ? cached.credentials : await run();
    },
    async renew() {
      const isFresh = cached !== undefined && deps.clock.monotonic() - cached.at < MIN_RENEWAL_MS;
      return cached !== undefined && isFresh && !isExpired(cached.credentials) ? cached.credentials : await run();
    },
  };
}

async function runOnce({ run, readAuthority }: ExecDeps, plugin: ExecPlugin): Promise<ExecCredentials> {
  const info = describeExecution(plugin, plugin.clusterInfo && (await readAuthority()));
  const own = Object.fromEntries(plugin.env.map(({ name, value }) => [name, value]));
  const outcome = await run({
    path: plugin.command,
    args: plugin.args,
    environment: { ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  });
  switch (outcome.kind) {
    case "printed":
      return readCredentials(plugin, outcome.stdout);
    case "missing":
      throw failure(`exec: executable ${plugin.command} not found${describeInstallation(plugin)}`);
    case "failed": {
      const said = outcome.stderr === "" ? "" : `: ${outcome.stderr}`;
      throw failure(`exec: executable ${plugin.command} ${outcome.problem}${said}`);
    }
  }
}

function describeInstallation({ installHint }: ExecPlugin): string {
  return installHint === "" ? "; install it or name another in users[].user.exec.command" : `\n\n${installHint}`;
}

/** `KUBERNETES_EXEC_INFO`: an ExecCredential without a status. */
function describeExecution({ apiVersion, clusterInfo }: ExecPlugin, authorityPem: string | undefined): object {
  const cluster = clusterInfo && {
    server: clusterInfo.server,
    ...(clusterInfo.tlsServerName !== undefined && { "tls-server-name": clusterInfo.tlsServerName }),
    ...(clusterInfo.insecureSkipTlsVerify && { "insecure-skip-tls-verify": true }),
    ...(authorityPem !== undefined && {
      "certificate-authority-data": Buffer.from(authorityPem).toString("base64"),
    }),
    ...(clusterInfo.proxyUrl !== undefined && { "proxy-url": clusterInfo.proxyUrl }),
    config: clusterInfo.config ?? null,
  };
  return { kind: "ExecCredential", apiVersion, spec: { interactive: false, ...(cluster && { cluster }) } };
}

/** The plugin's output never becomes part of a message: it holds the credentials. */
function readCredentials({ apiVersion, command }: ExecPlugin, stdout: Buffer): ExecCredentials {
  const printed = parse(stdout);
  if (!isRecord(printed) || printed["kind"] !== "ExecCredential") {
    throw failure(`exec: ${command}: decoding stdout: it is no ExecCredential in JSON`);
  }
  if (printed["apiVersion"] !== apiVersion) {
    const other = String(printed["apiVersion"]).slice(0, 100);
    const problem = `exec plugin is configured to use API version ${apiVersion}, plugin returned version ${other}`;
    throw failure(`exec: ${command}: ${problem}`);
  }
  const status = printed["status"];
  if (!isRecord(status)) throw failure(`exec: ${command}: exec plugin didn't return a status field`);
  const text = (key: string) => (typeof status[key] === "string" && status[key] !== "" ? status[key] : undefined);
  const [token, certificatePem, keyPem] = [text("token"), text("clientCertificateData"), text("clientKeyData")];
  if (token === undefined && certificatePem === undefined && keyPem === undefined) {
    throw failure(`exec: ${command}: exec plugin didn't return a token or cert/key pair`);
  }
  if ((certificatePem === undefined) !== (keyPem === undefined)) {
    throw failure(`exec: ${command}: exec plugin returned only certificate or key, not both`);
  }
  if (token !== undefined && /[^\x21-\x7e]/.test(token)) {
    throw failure(`exec: ${command}: the token has characters that no token has`);
  }
  const expires = text("expirationTimestamp");
  const expiresAt = parseTime(expires);
  if (expires !== undefined && expiresAt === undefined) {
    throw failure(`exec: ${command}: expirationTimestamp must be a time as RFC 3339 writes it`);
  }
  return { token, certificatePem, keyPem, expiresAt };
}

function parse(stdout: Buffer): unknown {
  try {
    return JSON.parse(stdout.toString("utf8"));
  } catch {
    return undefined;
  }
}

function failure(message: string): KubeUnreachableError {
  return new KubeUnreachableError("credentials", `getting credentials: ${message}`);
}
