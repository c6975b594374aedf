import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ConnectionFiles, PemSource } from "../connection.ts";
import { KubeUnreachableError } from "../port.ts";

/** The certificates that a connection shows, and the authorities that it trusts. */
interface TlsMaterial {
  /**
   * The present content of the files. The last good one, with a warning, when they cannot be read or do not fit
   * together, as in the middle of a rotation. Rejects with KubeUnreachableError `credentials` when there has never been
   * a good one.
   */
  load(): Promise<LoadedMaterial>;
  readonly hasFiles: boolean;
}

export interface LoadedMaterial {
  readonly secureContext: SecureContext;
  /** A new object after each change. */
  readonly version: number;
}

interface PemSources {
  readonly authority: PemSource | undefined;
  /** False: any server is believed, so that no authorities are needed. */
  readonly verifiesServer: boolean;
  /** An exec plugin's certificates are new with each run. */
  certificate(): Promise<{ certificate: PemSource; key: PemSource } | undefined>;
}

const MAX_PEM_BYTES = 4 * 1024 * 1024;

export function createTlsMaterial(
  { files, log }: { files: ConnectionFiles; log: Log },
  { authority, verifiesServer, certificate, hasFiles }: PemSources & { hasFiles: boolean },
): TlsMaterial {
  let loaded: (LoadedMaterial & { pems: Pems }) | undefined;
  const load = async (): Promise<LoadedMaterial> => {
    const own = await certificate();
    try {
      const pems: Pems = {
        ca: await readPem(files, "certificate authority", authority),
        cert: await readPem(files, "client certificate", own?.certificate),
        key: await readPem(files, "client key", own?.key),
      };
      if (loaded !== undefined && isSame(loaded.pems, pems)) return loaded;
      loaded = { pems, secureContext: createContext(pems, verifiesServer), version: (loaded?.version ?? 0) + 1 };
    } catch (error) {
      if (loaded === undefined) throw new KubeUnreachableError("credentials", messageOf(error), { cause: error });
      log.warn("The client's certificates cannot be read; the last ones are used", { error: messageOf(error) });
    }
    return loaded;
  };
  return { load, hasFiles };
}

interface Pems {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

function isSame(one: Pems, other: Pems): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

function createContext(pems: Pems, verifiesServer: boolean): SecureContext {
  try {
    return createSecureContext(computeClientContext(pems, verifiesServer));
  } catch (error) {
    // The message is OpenSSL's, which quotes no key.
    throw new Error(`the client's certificate, its key or the authority is no good: ${messageOf(error)}`);
  }
}

/** Computes the options of a client's TLS context. Without an authority, a server is verified by those of the whole web. */
export function computeClientContext({ ca, cert, key }: Pems, verifiesServer: boolean): SecureContextOptions {
  // Only an empty list keeps Node.js from reading them into memory, which takes longer than to connect.
  const authorities = verifiesServer ? ca : [];
  return {
    minVersion: "TLSv1.2",
    ...(authorities !== undefined && { ca: authorities }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

async function readPem(files: ConnectionFiles, what: string, pem: PemSource | undefined): Promise<string | undefined> {
  if (pem === undefined) return undefined;
  const text = pem.kind === "inline" ? pem.pem : await readFile(files, what, pem.path);
  // Empty text would count as absent: TLS would show no certificate, or trust all public authorities.
  if (!text.includes("-----BEGIN ")) {
    throw new Error(
      `${what}${pem.kind === "inline" ? "" : ` ${pem.path}`} is not in PEM${text === "" ? ": it is empty" : ""}`,
    );
  }
  return text;
}

async function readFile(files: ConnectionFiles, what: string, path: string): Promise<string> {
  try {
    return (await files.read(path, MAX_PEM_BYTES)).toString("utf8");
  } catch (error) {
    throw new Error(`${what} ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
