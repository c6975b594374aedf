import { CodedError, messageOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import { readCertificate, splitCertificates } from "../../../pki/read-certificate.ts";
import { readText } from "./certificate-store.ts";
import { type FollowDeps, followFiles } from "./follow-files.ts";

/** The authorities whose client certificates the node's server believes: `authentication.x509.clientCAFile`. */
export interface ClientAuthority {
  /** The authorities' certificates as PEM; there is at least one. */
  current(): string;
  /** The listener is called after each change. */
  subscribe(listener: () => void): () => void;
  /** Reads the file anew when it changes, until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Rejects with a CodedError `client-authority` where the file has no certificate. The node never goes on without an
 * authority.
 */
export async function createClientAuthority(
  deps: FollowDeps & { readonly files: Pick<Files, "read" | "watch"> },
  path: string,
): Promise<ClientAuthority> {
  const listeners = new Set<() => void>();
  let held = await readAuthorities(deps.files, path);
  return {
    current: () => held,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    run: async (signal) =>
      await followFiles(
        deps,
        {
          paths: [path],
          async look() {
            const read = await readAuthorities(deps.files, path);
            if (read === held) return;
            held = read;
            deps.log.info("Loaded the client authorities anew", { path });
            for (const listener of listeners) listener();
          },
        },
        signal,
      ),
  };
}

async function readAuthorities(files: Pick<Files, "read">, path: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new CodedError(
      "client-authority",
      `unable to load client CA file ${path}: ${why} (authentication.x509.clientCAFile)`,
      {
        cause,
      },
    );
  const text = await readText(files, path).catch((error: unknown) => {
    throw refuse(messageOf(error), error);
  });
  if (text === undefined) throw refuse("no such file or directory");
  const certificates = splitCertificates(text);
  if (certificates.length === 0) throw refuse("data does not contain any valid RSA or ECDSA certificates");
  try {
    for (const pem of certificates) readCertificate(pem);
  } catch (error) {
    throw refuse(messageOf(error), error);
  }
  return certificates.join("");
}
