import { aborted, isAbort, sleep } from "../../../base/abort.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import type { CertificateRotation } from "./certificate-rotation.ts";
import { readText } from "./certificate-store.ts";
import { type FollowDeps, followFiles } from "./follow-files.ts";
import { readPair } from "./pem-pair.ts";

/** The certificate that the node's server shows to its clients. */
export interface ServingCertificate {
  /** The pair is undefined while there is none, and then no client can connect. */
  current(): KeyedCertificate | undefined;
  /** The listener is called after each change. */
  subscribe(listener: () => void): () => void;
  /** Keeps the certificate up to date until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
}

/** The paths of a certificate, which includes those between it and its authority, and of its private key. */
interface PairFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

const LOOK_MS = 60 * MINUTE;

/** Creates a certificate that never changes. */
export function createFixedCertificate(pair: KeyedCertificate): ServingCertificate {
  return { current: () => pair, subscribe: () => () => undefined, run: aborted };
}

/**
 * Creates the certificate that the node signs itself. `ensure` returns it, and makes it anew when it nears its end, for
 * which it is called each hour. A failure is logged, and what is there stays in use.
 */
export async function createOwnCertificate(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  ensure: () => Promise<KeyedCertificate>,
): Promise<ServingCertificate> {
  const listeners = new Set<() => void>();
  let held = await ensure();
  const look = async () => {
    const pair = await ensure();
    if (pair.certificatePem === held.certificatePem && pair.keyPem === held.keyPem) return;
    held = pair;
    for (const listener of listeners) listener();
  };
  return {
    current: () => held,
    subscribe: (listener) => subscribeTo(listeners, listener),
    async run(signal) {
      try {
        for (;;) {
          await sleep(clock, LOOK_MS, signal);
          await look().catch((error: unknown) => {
            log.error("The serving certificate could not be renewed", { error: messageOf(error) });
          });
        }
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
  };
}

/**
 * Reads the files of `tlsCertFile` and `tlsPrivateKeyFile`. Rejects with a CodedError `serving-certificate` where they
 * are no pair.
 */
export async function readPairFiles(
  files: Pick<Files, "read">,
  { certificateFile, keyFile }: PairFiles,
): Promise<KeyedCertificate> {
  const [certificate, key] = [await readText(files, certificateFile), await readText(files, keyFile)];
  const missing = certificate === undefined ? certificateFile : key === undefined ? keyFile : undefined;
  const pair = readPair(certificate ?? "", key ?? "");
  if (pair !== undefined) return pair;
  const why =
    missing === undefined
      ? `${certificateFile} and ${keyFile} are not a certificate and its private key`
      : `open ${missing}: no such file or directory`;
  throw new CodedError("serving-certificate", `failed to load certificate: ${why} (tlsCertFile, tlsPrivateKeyFile)`);
}

/**
 * Creates the certificate of two files, which are read anew when they change (`ReloadKubeletServerCertificateFile`).
 * Files that are no pair, such as half of a new pair, are not used; the pair from before stays in use. `first` is what
 * was read at the start.
 */
export function createFollowedCertificate(
  deps: FollowDeps & { readonly files: Pick<Files, "read" | "watch"> },
  options: PairFiles & { readonly first: KeyedCertificate },
): ServingCertificate {
  const listeners = new Set<() => void>();
  let held = options.first;
  return {
    current: () => held,
    subscribe: (listener) => subscribeTo(listeners, listener),
    run: async (signal) =>
      await followFiles(
        deps,
        {
          paths: [options.certificateFile, options.keyFile],
          async look() {
            const pair = await readPairFiles(deps.files, options);
            if (pair.certificatePem === held.certificatePem && pair.keyPem === held.keyPem) return;
            held = pair;
            deps.log.info("Loaded the serving certificate anew", { certFile: options.certificateFile });
            for (const listener of listeners) listener();
          },
        },
        signal,
      ),
  };
}

/**
 * Creates the certificate of `serverTLSBootstrap`, which the cluster signs. Until there is one, `fallback` is used,
 * where files name one.
 */
export function createRotatedCertificate(
  rotation: Pick<CertificateRotation, "current" | "subscribe" | "run">,
  { fallback, log }: { readonly fallback: KeyedCertificate | undefined; readonly log: Log },
): ServingCertificate {
  return {
    current: () => rotation.current() ?? fallback,
    subscribe: (listener) => rotation.subscribe(() => listener()),
    async run(signal) {
      if (fallback === undefined) {
        log.info("The serving certificate is requested from the cluster, and somebody has to approve it", {
          signerName: "kubernetes.io/kubelet-serving",
        });
      }
      await rotation.run(signal);
    },
  };
}

function subscribeTo(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
