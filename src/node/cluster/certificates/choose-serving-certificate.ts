import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import type { Files } from "../../../host/port.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import type { CertificateRotation } from "./certificate-rotation.ts";
import { ensureServingCertificate } from "./ensure-serving-certificate.ts";
import {
  createFixedCertificate,
  createFollowedCertificate,
  createOwnCertificate,
  createRotatedCertificate,
  readPairFiles,
  type ServingCertificate,
} from "./serving-certificate.ts";

interface ServingCertificateDeps {
  readonly clock: Clock;
  readonly files: Files;
  readonly log: Log;
  /**
   * The rotation requests certificates from the cluster. It is undefined where the configuration forbids it or there is
   * no cluster.
   */
  readonly rotation: CertificateRotation | undefined;
}

/**
 * Chooses the certificate that the configuration wants: one that the cluster signs, that of named files, or the node's
 * own. Rejects where a file that the configuration names is missing or of no use.
 */
export async function chooseServingCertificate(
  { clock, files, log, rotation }: ServingCertificateDeps,
  { kubelet, certDirectory, nodeName, featureGates }: NodeAgentConfig,
): Promise<ServingCertificate> {
  const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = kubelet;
  const named = certificateFile === "" || keyFile === "" ? undefined : { certificateFile, keyFile };
  if (rotation !== undefined) {
    const fallback: KeyedCertificate | undefined = named && (await readPairFiles(files, named));
    return createRotatedCertificate(rotation, { fallback, log });
  }
  if (named === undefined) {
    // As upstream, one file without the other is no certificate, and the node makes its own.
    const options = { certDirectory, hostName: nodeName };
    return await createOwnCertificate({ clock, log }, () => ensureServingCertificate({ files, clock, log }, options));
  }
  const first = await readPairFiles(files, named);
  if (!featureGates.ReloadKubeletServerCertificateFile) return createFixedCertificate(first);
  return createFollowedCertificate({ files, clock, log }, { ...named, first });
}
