import { isAbort } from "../../base/abort.ts";
import { type Clock, MINUTE } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ConnectionFiles, KubeConnection, PemSource } from "../connection.ts";
import { createExecSource, type ExecSource } from "./exec-credentials.ts";
import { localFiles } from "./local-files.ts";
import type { PluginPrograms } from "./plugin-programs.ts";
import { createTlsMaterial, type LoadedMaterial } from "./tls-material.ts";
import { createTokenFile } from "./token-file.ts";

/** The current credentials of one client, from any source. */
export interface Credentials {
  /** The value of the header `authorization`; undefined for no header. */
  authorization(): Promise<string | undefined>;
  /** The certificates for a new connection. */
  tls(): Promise<LoadedMaterial>;
  /**
   * Looks for other credentials after a server refused the header `used`. True when the header has changed; `tls` may
   * have changed, too.
   */
  renew(used: string | undefined): Promise<boolean>;
  /** Whether `tls` may change from one call to the next. */
  readonly canRotate: boolean;
  /** Resolves when no plugin runs. */
  settled(): Promise<void>;
}

interface CredentialsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly programs: PluginPrograms;
  /** Stops a plugin that runs. */
  readonly signal: AbortSignal;
}

const PLUGIN_TIMEOUT_MS = MINUTE;
const MAX_AUTHORITY_BYTES = 4 * 1024 * 1024;

export function createCredentials(deps: CredentialsDeps, connection: KubeConnection): Credentials {
  const { clock, log, programs, signal } = deps;
  const { user, authority } = connection;
  const files = localFiles;
  const running = new Set<Promise<unknown>>();
  const exec =
    user.exec &&
    createExecSource(
      {
        clock,
        run: async (program) => {
          const run = programs.run({ ...program, timeoutMs: PLUGIN_TIMEOUT_MS }, signal);
          running.add(run);
          return await run.finally(() => running.delete(run));
        },
        readAuthority: async () => await readInline(files, authority),
      },
      user.exec,
    );
  const tokenFile =
    user.tokenFile === undefined
      ? undefined
      : createTokenFile({ clock, files, log }, { path: user.tokenFile, fallback: user.token });
  const tls = createTlsMaterial(
    { files, log },
    {
      authority,
      verifiesServer: connection.insecureSkipTlsVerify !== true,
      certificate: async () => user.clientCertificate ?? (await certificateOf(exec)),
      hasFiles: [authority, user.clientCertificate?.certificate, user.clientCertificate?.key].some(
        (pem) => pem?.kind === "file",
      ),
    },
  );
  const authorization = async () => {
    const token = (await tokenFile?.current()) ?? user.token;
    if (token !== undefined) return `Bearer ${token}`;
    if (user.basic !== undefined) {
      const { username, password } = user.basic;
      return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    }
    const fromPlugin = (await exec?.current())?.token;
    return fromPlugin === undefined ? undefined : `Bearer ${fromPlugin}`;
  };
  return {
    authorization,
    tls: () => tls.load(),
    async renew(used) {
      try {
        await tokenFile?.renew();
        await exec?.renew();
        return (await authorization()) !== used;
      } catch (error) {
        if (!isAbort(error)) log.warn("refreshing credentials", { error: messageOf(error) });
        return false;
      }
    },
    canRotate: tls.hasFiles || exec !== undefined,
    async settled() {
      await Promise.allSettled(running);
    },
  };
}

async function certificateOf(
  exec: ExecSource | undefined,
): Promise<{ certificate: PemSource; key: PemSource } | undefined> {
  const { certificatePem, keyPem } = (await exec?.current()) ?? {};
  if (certificatePem === undefined || keyPem === undefined) return undefined;
  return { certificate: { kind: "inline", pem: certificatePem }, key: { kind: "inline", pem: keyPem } };
}

async function readInline(files: ConnectionFiles, pem: PemSource | undefined): Promise<string | undefined> {
  if (pem?.kind !== "file") return pem?.pem;
  return (await files.read(pem.path, MAX_AUTHORITY_BYTES)).toString("utf8");
}
